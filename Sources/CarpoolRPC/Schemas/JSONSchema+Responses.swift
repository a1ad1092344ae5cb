internal import CarpoolJSON

// Validation of responses, and serialization of bodies.
extension JSONSchema {
    /// The most validators of a request; one of a client's own is a call to the client.
    private static let maximumValidators = 16
    /// The most values of one body; each is made separately.
    private static let maximumSerializers = 8
    /// The most entries of a list of statuses, types or methods.
    private static let maximumEntries = 64

    /// A status of a response (RFC 9110, section 15).
    private static let status = JSONSchema.integer(100...999)

    /// The validation of a response.
    static let validation = JSONSchema.named(
        "Validation",
        .oneOf(
            .boolean.described(
                """
                true: the status is 200 to 299, and the type of the body is one that the request's `Accept` names. \
                false: any response is acceptable.
                """),
            .array(of: validator, count: 0...maximumValidators).described(
                "In order; the first that refuses the response fails the request.")))

    private static let validator = JSONSchema.oneOf(
        .object([
            .required(
                "status", .array(of: .oneOf(status, .string(maxBytes: 7)), count: 0...maximumEntries),
                "Codes, and ranges like `\"200-299\"`. An empty list accepts no status.")
        ]),
        .object([
            .required(
                "content_type", .array(of: .string(maxBytes: 255), count: 0...maximumEntries),
                """
                Types like `application/json`, `text/*` or `*/*`; parameters are ignored. A response without a body passes, and \
                one that names no type passes where `*/*` is acceptable.
                """)
        ]),
        .object([.required("callback", .validatorCallback, "A client decides, see `callback.validate`.")]))

    /// The values that are made of a body.
    static let serialization = JSONSchema.named(
        "Serialization",
        .oneOf(
            serializer,
            .array(of: serializer, count: 1...maximumSerializers).described("Several values of one body, in order.")))

    private static let serializer = JSONSchema.oneOf(
        .choice(kinds).described("The kind, with the defaults of the other members."),
        .object([
            .required(
                "as", .choice(kinds),
                """
                `data`: the bytes. `string`: the text. `json`: the JSON value. `plist`: the property list, XML or binary. \
                `none`: no value, the body is the result.
                """),
            .optional(
                "encoding", .choice(encodings),
                """
                Only for `string`. Default: the response's `charset` if it names a form of Unicode or ISO-8859-1, otherwise \
                ISO-8859-1. \
                `auto`: a byte order mark, then the `charset`, then UTF-8 if it is valid, then ISO-8859-1.
                """),
            .optional(
                "empty_methods", .array(of: .string(maxBytes: 64), count: 0...maximumEntries),
                "Methods whose responses may have no body.", default: "[\"HEAD\"]"),
            .optional(
                "empty_statuses", .array(of: status, count: 0...maximumEntries),
                "Statuses whose responses may have no body.", default: "[204,205]"),
            .optional(
                "preprocess",
                .oneOf(
                    .choice("google_xssi"),
                    .object([
                        .required(
                            "callback", .serializerCallback, "A client returns the bytes, see `callback.preprocess`.")
                    ])),
                """
                A change of the bytes before serialization. `google_xssi` removes a first line `)]}',`. Default: none. An \
                empty body is not preprocessed.
                """),
        ]),
        .object([.required("callback", .serializerCallback, "A client returns the value, see `callback.serialize`.")]))

    private static let kinds: [StaticString] = ["data", "string", "json", "plist", "none"]

    private static let encodings: [StaticString] = [
        "auto", "utf-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16", "utf-16le", "utf-16be", "utf-32",
        "utf-32le",
        "utf-32be",
    ]
}
