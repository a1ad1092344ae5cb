internal import CarpoolJSON

extension Catalogue {
    /// The methods that the examples of JSON-RPC 2.0 §7 call, for tests that compare a server's answers with the
    /// printed ones.
    public static let specification = Catalogue(methods: [
        Method(
            "subtract", role: .observe, "Subtracts.", "The minuend less the subtrahend.",
            params: [
                .init("minuend", .integer(-1_000_000...1_000_000), "From this.", required: true),
                .init("subtrahend", .integer(-1_000_000...1_000_000), "This.", required: true),
            ], result: .integer,
            examples: [.init("in order", params: #"{"minuend":42,"subtrahend":23}"#, result: "19")]),
        Method(
            "sum", role: .observe, "Adds.", "The sum of three numbers.",
            params: [addend("a"), addend("b"), addend("c")], result: .integer,
            examples: [.init("in order", params: #"{"a":1,"b":2,"c":4}"#, result: "7")]),
        Method(
            "get_data", role: .observe, "Returns data.", "A word and a number.", result: .array(of: .any, count: 2...2),
            examples: [.init("the data", result: #"["hello",5]"#)]),
        notification("update", count: 5), notification("notify_hello", count: 1), notification("notify_sum", count: 3),
    ])

    private static func addend(_ name: StaticString) -> JSONSchema.Member {
        .init(name, .integer(-1_000_000...1_000_000), "A number.", required: true)
    }

    private static func notification(_ name: String, count: Int) -> Method {
        let names: [StaticString] = ["a", "b", "c", "d", "e"]
        return Method(
            name, role: .observe, "Takes numbers.", "Does nothing with them.", params: names.prefix(count).map(addend),
            result: .null, examples: [])
    }
}
