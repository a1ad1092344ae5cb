internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// `body.put`: the bytes of requests.
extension BodyHandlers {
    func put(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        guard let feed = entry.request.feed else {
            throw .wrongState(
                request: entry.request.id, state: entry.request.state.rawValue,
                expected: "a request that is running and has the body {\"stream\": true}")
        }
        let bytes = try BodyHandlers.piece(in: call.params)
        let token = feed.put(
            bytes, at: call.params["offset"]?.integer, isLast: call.params["end"]?.bool ?? false
        ) { result in
            switch result {
            case .success(let receipt): call.answer { BodyHandlers.write(receipt, to: &$0) }
            case .failure(let refusal): call.fail(BodyHandlers.error(refusal, entry.request))
            }
        }
        call.onCancel = { feed.withdraw(token) }
        return .pending
    }

    /// The bytes of a call, from text or base64.
    static func piece(in params: Params) throws(RPCError) -> [UInt8] {
        if let text = params["text"] {
            guard params["base64"] == nil else {
                throw .invalidParams(
                    path: "params.base64", message: "text is set too", expected: "either text or base64")
            }
            return text.withUTF8 { Array($0) } ?? []
        }
        guard let base64 = params["base64"] else { return [] }
        return try Base64Text.decode(base64, at: "params.base64")
    }

    private static func write(_ receipt: BodyFeed.Receipt, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("accepted_bytes", receipt.acceptedBytes)
        writer.member("offset_bytes", receipt.offsetBytes)
        writer.member("room_bytes", receipt.roomBytes)
        writer.endObject()
    }

    private static func complete(_ message: String, _ request: Request) -> RPCError {
        RPCError(.wrongState, message).with("state", request.state.rawValue)
            .with("expected", "a request that still sends its body").with("request", request.id)
    }

    private static func error(_ refusal: BodyFeed.Refusal, _ request: Request) -> RPCError {
        switch refusal {
        case .over:
            complete("the body of \(request.id) takes no more pieces", request)
        case .ended: complete("the last piece of the body of \(request.id) was sent before", request)
        case .tooManyWaiting(let count): .tooManyInFlight("waiting calls of body.put", limit: count)
        case .gap(let expected):
            .invalidParams(
                path: "params.offset", message: "bytes are missing from \(expected) on", expected: "0 to \(expected)")
        case .tooLong(let left):
            .invalidParams(
                path: "params", message: "the body has only \(left) bytes left", expected: "at most \(left) bytes")
        case .tooShort(let missing):
            .invalidParams(
                path: "params.end", message: "end is true, but the body lacks \(missing) bytes of length_bytes",
                expected: "false")
        }
    }
}
