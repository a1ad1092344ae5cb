internal import CarpoolJSON

// Parameters of a request, and how they are encoded.
extension JSONSchema {
    /// The encoding of parameters.
    static let encoding = JSONSchema.named(
        "ParameterEncoding",
        .oneOf(
            .choice("form", "json", "plist").described("With every default."),
            .object([.required("form", .object(formMembers), "`name=value` pairs, percent-encoded.")]),
            .object([
                .required("json", .object(jsonMembers), "A JSON body. Bytes become base64, dates seconds since 2001.")
            ]),
            .object([.required("plist", .object(propertyListMembers), "A property list as the body.")])))

    private static let formMembers: [Member] = [
        .optional(
            "destination", .choice("method_dependent", "query", "body"),
            "`method_dependent`: the query for GET, HEAD and DELETE, the body for all other methods.",
            default: "\"method_dependent\""),
        .optional(
            "sort", .choice("pairs", "keys", "given"),
            """
            `pairs`: the encoded pairs at every level, elements of arrays too. `keys`: the members of the outermost object only. `given`: \
            nothing is sorted.
            """, default: "\"pairs\""),
        .optional(
            "array", .choice("brackets", "no_brackets", "index_in_brackets", "comma"),
            "`k[]=1&k[]=2`, `k=1&k=2`, `k[0]=1&k[1]=2`, or `k=1,2`.", default: "\"brackets\""),
        .optional("bool", .choice("numeric", "literal"), "`1` or `true`.", default: "\"numeric\""),
        .optional(
            "data", .choice("base64", "deferred_to_data"), "Bytes as base64, or as an array of numbers.",
            default: "\"base64\""),
        .optional("date", date, "The form of points in time.", default: "\"deferred_to_date\""),
        .optional(
            "key",
            .choice("use_default_keys", "snake_case", "kebab_case", "capitalized", "uppercased", "lowercased"),
            "How names are converted: the whole composed name at once.", default: "\"use_default_keys\""),
        .optional("key_path", .choice("brackets", "dots"), "`a[b]` or `a.b`.", default: "\"brackets\""),
        .optional(
            "nil", .choice("drop_key", "drop_value", "null"), "null as nothing, as `k=`, or as `k=null`.",
            default: "\"drop_key\""),
        .optional(
            "space", .choice("percent_escaped", "plus_replaced"), "`%20` or `+`.", default: "\"percent_escaped\""),
        .optional(
            "allowed_characters", .string(maxBytes: 128),
            "The characters besides letters and digits that are not percent-encoded: printable ASCII without blank and `#`.",
            default: "\"-._~?/\""),
    ]

    private static let date = JSONSchema.oneOf(
        .choice("deferred_to_date", "seconds_since_1970", "milliseconds_since_1970", "iso8601").described(
            "`deferred_to_date`: seconds since 2001. `iso8601`: `2001-01-01T00:00:00Z`."),
        .object([
            .required(
                "formatted", .string(maxBytes: 256),
                "A pattern in UTC: %Y %m %d %H %M %S, %L milliseconds, %f microseconds, %j %s %F %T %%.")
        ]))

    private static let jsonMembers: [Member] = [
        .optional("pretty", .boolean, "On several lines, indented.", default: "false"),
        .optional("sorted_keys", .boolean, "The members of objects by name.", default: "false"),
    ]

    private static let propertyListMembers: [Member] = [
        .optional("format", .choice("xml", "binary"), "The form of the property list.", default: "\"xml\"")
    ]
}
