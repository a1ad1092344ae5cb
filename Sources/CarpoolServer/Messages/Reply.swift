internal import CarpoolJSON
internal import CarpoolRPC

/// The outcome of a call: a function that writes the result, or an error.
typealias CallResult = Result<(inout JSONWriter) -> Void, RPCError>

/// The responses of JSON-RPC 2.0 (section 5).
enum Reply {
    static func write(id: RPCID?, _ result: CallResult, to writer: inout JSONWriter) {
        switch result {
        case .failure(let error): write(id: id, error: error, to: &writer)
        case .success(let body):
            begin(id: id, to: &writer)
            writer.key("result")
            body(&writer)
            writer.endObject()
        }
    }

    static func write(id: RPCID?, error: RPCError, to writer: inout JSONWriter) {
        begin(id: id, to: &writer)
        writer.key("error")
        error.write(to: &writer)
        writer.endObject()
    }

    private static func begin(id: RPCID?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.key("id")
        if let id { writer.raw(id.bytes) } else { writer.null() }
    }
}

/// The notifications that the daemon sends.
enum Notification {
    /// A message of a stream; the body writes the members of its parameters.
    static func write(data body: (inout JSONWriter) -> Void, to writer: inout JSONWriter) {
        begin("request.data", to: &writer)
        body(&writer)
        writer.endObject()
        writer.endObject()
    }

    /// A request has something to write, and no descriptor.
    static func write(outputNeededBy request: String, call: RPCID?, to writer: inout JSONWriter) {
        begin("request.output_needed", to: &writer)
        writer.member("request", request)
        if let call {
            writer.key("call")
            writer.raw(call.bytes)
        }
        writer.endObject()
        writer.endObject()
    }

    /// Everything up to the members that all subscribers have in common.
    static func begin(subscription: String, to writer: inout JSONWriter) {
        begin("event", to: &writer)
        writer.member("sub", subscription)
        writer.append(verbatim: [UInt8(ascii: ",")])
        writer.beginText()
    }

    /// Everything up to the members of the parameters.
    static func begin(_ method: StaticString, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("method", static: method)
        writer.key("params")
        writer.beginObject()
    }
}
