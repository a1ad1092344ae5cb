import CarpoolJSON

extension JSONSchema {
    /// A client certificate with its key.
    static let clientCertificate = JSONSchema.named(
        "ClientCertificate",
        .oneOf(
            .choice("none").described("No certificate."),
            source(
                "file", .string(maxBytes: 4_096),
                "A file with the certificate, its chain and the key unless it is apart."),
            source("pem", pem, "The PEM text of the certificate, its chain and the key unless it is apart."),
            source("base64", .string(maxBytes: 1_400_000), "A PKCS#12 file, or PEM text, in Base64."),
            source("fd", descriptor, "The index of a passed descriptor of a regular file, read from its beginning.")))

    /// What is shown of a client certificate.
    static let shownCertificate = JSONSchema.named(
        "ShownCertificate",
        .answer([
            .required("subject", .string, "The distinguished name of its subject (RFC 2253)."),
            .required("issuer", .string, "That of its issuer."),
            .required("serial_number", .string, "Its serial number in hexadecimal digits."),
            .required("not_before", .string, "The first second in which it is valid, as RFC 3339 writes it."),
            .required("not_after", .string, "The last one."),
            .required("sha256", .string, "The SHA-256 of the certificate in hexadecimal digits."),
        ]))

    private static func source(_ name: StaticString, _ schema: JSONSchema, _ summary: String) -> JSONSchema {
        .object([.required(name, schema, summary)] + keyAndPassword)
    }

    private static let keyAndPassword: [Member] = [
        .optional("key_file", .string(maxBytes: 4_096), "A PEM file with the private key."),
        .optional("key_pem", pem, "The PEM text of the private key."),
        .optional(
            "key_fd", descriptor, "The index of a passed descriptor of a regular file with the private key in PEM."),
        .optional("type", .choice("pem", "p12"), "The form of the certificate. By default its content decides."),
        .optional("password", .string(maxBytes: 1_024), "The password of the key, or of the PKCS#12 file."),
        .optional("password_file", .string(maxBytes: 4_096), "A file with the password as its only line."),
    ]
    private static let pem = JSONSchema.string(maxBytes: 1_048_576)
    private static let descriptor = JSONSchema.integer(0...15)
}
