internal import CarpoolJSON
internal import CarpoolRPC

/// The methods of the JSON-RPC 2.0 specification's examples (section 7), so that they can be played against a real
/// daemon.
enum SpecificationHandlers {
    static var table: [String: Handler] {
        [
            "subtract": { (call: Call) throws(RPCError) in
                let difference = (call.params["minuend"]?.int ?? 0) &- (call.params["subtrahend"]?.int ?? 0)
                return .result { $0.integer(difference) }
            },
            "sum": { (call: Call) throws(RPCError) in
                let names: [StaticString] = ["a", "b", "c"]
                let sum = names.reduce(0) { $0 &+ (call.params[$1]?.int ?? 0) }
                return .result { $0.integer(sum) }
            },
            "get_data": { (_: Call) throws(RPCError) in
                .result { writer in
                    writer.beginArray()
                    writer.string("hello")
                    writer.integer(5)
                    writer.endArray()
                }
            },
            "update": nothing, "notify_hello": nothing, "notify_sum": nothing,
        ]
    }

    private static func nothing(_ call: Call) throws(RPCError) -> Answer { .result { $0.null() } }
}
