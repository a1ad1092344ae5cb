internal import CarpoolJSON

// Server trust: authorities and evaluators.
extension JSONSchema {
    /// How the server's certificate is verified.
    static let trust = JSONSchema.named(
        "Trust",
        .oneOf(
            .choice("system").described("The system's store of authorities."),
            .object([
                .optional("ca_file", path, "A PEM file: these authorities and no others."),
                .optional(
                    "ca_path", .oneOf(path, .array(of: path, count: 1...16)),
                    "A directory of PEM files, or several; with `ca_file` or `ca_pem` their authorities too."),
                .optional("ca_pem", pem, "Certificates as PEM text, instead of `ca_file`."),
                .optional(
                    "ca_in_addition", .boolean, "Whether the system's authorities are trusted too.", default: "false"),
                .optional(
                    "evaluators", .map(of: evaluator, maxCount: 64),
                    """
                    Evaluators by host, in place of the standard check. A name is a host; `*.` and a name, for exactly one \
                    label more; an IP address; or `*`. With `:PORT` the port counts.
                    """),
                .optional(
                    "all_hosts_must_be_evaluated", .boolean,
                    "With `evaluators`: whether other hosts are refused. Otherwise the standard check decides.",
                    default: "true"),
                .optional(
                    "environment", .string(maxBytes: 64),
                    """
                    The variable of the program's environment that names these authorities. The trust of the session, if \
                    it has any, takes precedence then. Not beside `evaluators`.
                    """),
                .optional(
                    "verify", .constant(false), "false: any certificate of any host. Only for tests, and only alone."),
            ])))

    private static let path = JSONSchema.string(maxBytes: 4_096)
    private static let pem = JSONSchema.string(maxBytes: 1_048_576)

    private static let evaluator = JSONSchema.named(
        "Evaluator",
        .oneOf(
            simpleEvaluator,
            .object([
                .required(
                    "composite", .array(of: simpleEvaluator, count: 1...8),
                    "All must accept the server, in order; the failure is that of the first that does not.")
            ])))

    private static let simpleEvaluator = JSONSchema.named(
        "SimpleEvaluator",
        .oneOf(
            .choice("default", "revocation", "disabled").described(
                "The evaluator of that name with its defaults. `disabled` accepts any certificate of any host."),
            .object([
                .required("default", .object([validateHost]), "The standard check: the chain, and the host.")
            ]),
            .object([.required("revocation", revocation, "The standard check, and whether a certificate is revoked.")]),
            .object([.required("pinned_certificates", pinnedCertificates, "A pinned certificate is in the chain.")]),
            .object([.required("public_keys", publicKeys, "A pinned key is in the chain.")]),
            .object([.required("callback", .trustCallback, "A client decides, see `callback.trust`.")])))

    private static let validateHost = Member.optional(
        "validate_host", .boolean, "Whether the certificate must be for the URL's host.", default: "true")

    private static let defaultValidation = Member.optional(
        "perform_default_validation", .boolean, "Whether the chain must lead to a trusted authority.", default: "true")

    private static let revocation = JSONSchema.object([
        .optional("crl_file", path, "A file of revocation lists, PEM or DER."),
        .optional("crl_pem", pem, "Revocation lists as PEM text, instead of `crl_file`."),
        .optional(
            "staple", .choice("ignore", "check", "require"),
            """
            The answer of an OCSP responder that the server sends with its certificate. `ignore`: it is not requested. \
            `check`: one that is sent must be valid. `require`: one must be sent.
            """, default: "\"check\""),
        .optional(
            "require_positive_response", .boolean,
            "Whether a certificate that no list and no answer covers is refused.", default: "false"),
        defaultValidation, validateHost,
    ])

    private static let pinnedCertificates = JSONSchema.object([
        .optional("files", .array(of: path, count: 0...16), "Files of certificates, PEM or DER."),
        .optional("pem", pem, "Certificates as PEM text."),
        .optional(
            "accept_self_signed", .boolean,
            "Whether the pinned certificates are the only trusted authorities, so that they may be self-signed.",
            default: "false"),
        defaultValidation, validateHost,
    ])

    private static let publicKeys = JSONSchema.object([
        .optional(
            "pins", .array(of: .string(maxBytes: 52), count: 0...64),
            "SHA-256 of public keys, `sha256//` and base64, as `carpool pins` and curl write them."),
        .optional(
            "files", .array(of: path, count: 0...16),
            "Files of public keys, or of certificates whose keys are pinned; PEM or DER."),
        .optional("pem", pem, "Public keys, or certificates whose keys are pinned, as PEM text."),
        .optional(
            "own_key", .boolean,
            "Whether only the key of the server's own certificate counts, as in curl, and not that of an authority.",
            default: "false"),
        defaultValidation, validateHost,
    ])
}
