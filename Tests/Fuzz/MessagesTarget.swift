internal import CarpoolJSON
@testable import CarpoolRPC

/// Anything is a message that can be carried out, or an error that can be written: on one line, as JSON, with the id
/// that came.
enum MessagesTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        switch RPCInput.parse(Array(input)) {
        case .failure(let error): checkAnswer(id: nil, error)
        case .single(let message): check(message)
        case .batch(let messages):
            require(!messages.isEmpty && messages.count <= RPCInput.maximumBatch, "a batch of \(messages.count)")
            messages.forEach(check)
        }
    }

    private static func check(_ message: RPCMessage) {
        switch message {
        case .invalid(let id, let error): checkAnswer(id: id, error)
        case .invalidResponse(let id, let error): checkAnswer(id: id, error)
        case .request(let request): check(request)
        case .response(let response):
            checkAnswer(id: response.id, .invalidRequest("x"))
            guard case .result(let value) = response.outcome else { return }
            for callback in Catalogue.carpool.callbacks {
                try? Catalogue.carpool.check(answer: value, to: callback.name)
            }
        }
    }

    private static func check(_ request: RPCRequest) {
        guard let method = Catalogue.carpool[request.method] else {
            return checkAnswer(id: request.id, Catalogue.carpool.methodNotFound(request.method))
        }
        do throws(RPCError) {
            let params = try Catalogue.carpool.bind(params: request.params, of: method)
            var writer = JSONWriter()
            params.write(to: &writer)
            require((try? JSON.parse(writer.bytes)) != nil, "parameters that are no JSON")
        } catch {
            checkAnswer(id: request.id, error)
        }
    }

    private static func checkAnswer(id: RPCID?, _ error: RPCError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("id")
        if let id { writer.raw(id.bytes) } else { writer.null() }
        writer.key("error")
        error.write(to: &writer)
        writer.endObject()
        let answer = writer.bytes
        require(!answer.contains(UInt8(ascii: "\n")), "an answer of several lines")
        guard let json = try? JSON.parse(answer) else { fail("an answer that is no JSON") }
        let kinds: [JSON.Kind] = [.string, .integer, .real, .bigNumber, .null]
        require(json["id"].map { kinds.contains($0.kind) } == true, "an id of a kind that none has")
        require(json["error"]?["code"]?.int == error.code && json.count == 2, "another error than the one written")
    }
}
