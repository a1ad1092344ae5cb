import CarpoolJSON
import CarpoolRPC

/// A server in memory with the methods of the specification's examples: bytes of a client in, bytes of answers out.
struct SpecificationService {
    var framer = MessageFramer()
    var output: [UInt8] = []
    private let catalogue = Catalogue.specification

    mutating func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { framer.append($0) }
        while let event = framer.next() { handle(event) }
    }

    mutating func end() {
        if let event = framer.finish() { handle(event) }
    }

    private mutating func handle(_ event: FramerEvent) {
        switch event {
        case .failure(let error): send(answer(nil, error))
        case .message(let bytes):
            switch RPCInput.parse(bytes) {
            case .failure(let error): send(answer(nil, error))
            case .single(let message): if let answer = answer(to: message) { send(answer) }
            case .batch(let messages):
                let answers = messages.compactMap(answer(to:))
                guard !answers.isEmpty else { return }
                var writer = JSONWriter()
                writer.beginArray()
                for answer in answers { writer.raw(answer) }
                writer.endArray()
                send(writer.bytes)
            }
        }
    }

    private mutating func send(_ message: [UInt8]) { framer.frame(message, into: &output) }

    private func answer(to message: RPCMessage) -> [UInt8]? {
        switch message {
        case .response: return nil
        case .invalid(let id, let error): return answer(id, error)
        case .invalidResponse(let id, let error): return answer(id, error)
        case .request(let request):
            do throws(RPCError) {
                let result = try call(request)
                return request.id.map { id in answer(id) { $0.member("result", try? JSON.parse(result)) } }
            } catch {
                return request.id.map { answer($0, error) }
            }
        }
    }

    private func call(_ request: RPCRequest) throws(RPCError) -> [UInt8] {
        guard let method = catalogue[request.method] else { throw catalogue.methodNotFound(request.method) }
        let params = try catalogue.bind(params: request.params, of: method)
        func number(_ name: StaticString) -> Int { params[name]?.int ?? 0 }
        switch method.name {
        case "subtract": return Array("\(number("minuend") - number("subtrahend"))".utf8)
        case "sum": return Array("\(number("a") + number("b") + number("c"))".utf8)
        case "get_data": return Array(#"["hello",5]"#.utf8)
        default: return Array("null".utf8)
        }
    }

    private func answer(_ id: RPCID?, _ error: RPCError) -> [UInt8] {
        answer(id) { writer in
            writer.key("error")
            error.write(to: &writer)
        }
    }

    private func answer(_ id: RPCID?, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.key("id")
        writer.raw(id?.bytes ?? Array("null".utf8))
        body(&writer)
        writer.endObject()
        return writer.bytes
    }
}
