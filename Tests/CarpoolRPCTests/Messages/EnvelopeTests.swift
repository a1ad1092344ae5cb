import CarpoolJSON
import Testing

@testable import CarpoolRPC

struct EnvelopeTests {
    private static let call =
        #"{"jsonrpc":"2.0","id":17,"method":"request.perform","params":{"url":"http://h/","n":[1,{"a":"]"}],"r":1.50}}"#

    private func message(_ text: String) -> RPCMessage? {
        guard case .single(let message) = RPCInput.parse(Array(text.utf8)) else { return nil }
        return message
    }

    private func request(_ text: String) -> RPCRequest? {
        guard case .request(let request)? = message(text) else { return nil }
        return request
    }

    private func refusal(_ text: String) -> (id: RPCID?, error: RPCError)? {
        switch RPCInput.parse(Array(text.utf8)) {
        case .failure(let error): (nil, error)
        case .single(.invalid(let id, let error)): (id, error)
        case .single(.invalidResponse(let id, let error)): (id, error)
        default: nil
        }
    }

    /// The framer's message for a text, with the outline that it found.
    private func framed(_ text: [UInt8]) -> MessageText? {
        var framer = MessageFramer()
        text.withUnsafeBytes { framer.append($0) }
        guard case .message(let message)? = framer.next() else { return nil }
        return message
    }

    private func agree(_ left: RPCInput, _ right: RPCInput) -> Bool {
        switch (left, right) {
        case (.single(.request(let a)), .single(.request(let b))):
            a.id == b.id && a.id?.bytes == b.id?.bytes && a.method == b.method && a.params == b.params
        case (.single(.invalid(let a, let e)), .single(.invalid(let b, let f))): a == b && e == f
        case (.single(.invalidResponse(let a, let e)), .single(.invalidResponse(let b, let f))): a == b && e == f
        case (.failure(let a), .failure(let b)): a == b
        case (.single(.response(let a)), .single(.response(let b))): a.id == b.id
        case (.batch(let a), .batch(let b)): a.count == b.count
        default: false
        }
    }

    @Test(arguments: [
        (call, "17", "request.perform"), (#"{"method":"m","jsonrpc":"2.0","id":null}"#, "null", "m"),
        (#" { "params" : [ 1 ] , "id" : "a-1" , "method" : "m" , "jsonrpc" : "2.0" } "#, #""a-1""#, "m"),
        (#"{"json\u0072pc":"2\u002e0","\u0069d":"\u0061","method":"m\u00e9","x":{},"y":1,"z":2}"#, #""\u0061""#, "mé"),
        (#"{"jsonrpc":"2.0","id":1E2,"method":"m","params":null}"#, "1E2", "m"),
        (#"{"jsonrpc":"2.0","id":12345678901234567.89,"method":"m"}"#, "12345678901234567.89", "m"),
        (#"{"jsonrpc":"2.0","id":-0,"method":"m"}"#, "-0", "m"),
    ])
    func f4_idsAreEchoedAsTheyAreSpelled(_ text: String, _ id: String, _ method: String) {
        let request = request(text)
        #expect(request.map { String(decoding: $0.id?.bytes ?? [], as: UTF8.self) } == id)
        #expect(request?.method == method)
    }

    @Test(
        "F1: a NUL behind a number is refused, and is no part of an id",
        arguments: [
            "{\"jsonrpc\":\"2.0\",\"id\":7\0,\"method\":\"m\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":[123\0]}",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"\0}", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}\0",
        ])
    func f1_nullBehindANumber(_ text: String) {
        let refusal = refusal(text)
        #expect(refusal?.error.name == "parse_error" && refusal?.id == nil)
    }

    @Test("F2: a number in the place of a member's name is refused, and the error has no more than what was sent")
    func f2_numberAsName() {
        let refusal = refusal(#"{"jsonrpc":"2.0","id":1,"method":"m","params":{9999E9999:1}}"#)
        #expect(refusal?.error.name == "parse_error")
        #expect(refusal?.error["detail"]?.contains("the name of a member should be here") == true)
    }

    @Test("F3: U+0000 in a name is accepted, so that the error has the call's id")
    func f3_nullInAName() {
        let request = request(#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a\u0000":1}}"#)
        #expect(request?.params?["a\0"]?.int == 1 && request?.id != nil)
    }

    @Test("F13: a result beside a null error is a result, an error beside a null result an error")
    func f13_nullBeside() {
        guard case .response(let answer)? = message(#"{"jsonrpc":"2.0","id":1,"result":[1.0],"error":null}"#),
            case .result(let result) = answer.outcome
        else { return #expect(Bool(false)) }
        #expect(result[index: 0]?.numberText == "1.0")
        guard case .response(let failure)? = message(#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1}}"#),
            case .error(let error) = failure.outcome
        else { return #expect(Bool(false)) }
        #expect(error["code"]?.int == -1)
        guard case .response(let empty)? = message(#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#),
            case .result(let nothing) = empty.outcome
        else { return #expect(Bool(false)) }
        #expect(nothing.isNull)
        #expect(refusal(#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#)?.error.name == "invalid_request")
        #expect(refusal(#"{"jsonrpc":"2.0","id":1,"method":"m","error":null}"#)?.error.name == "invalid_request")
    }

    @Test(
        arguments: [
            (#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, nil), (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, nil),
            (#"{"jsonrpc":"1.0","id":3,"method":"m"}"#, "3"), (#"{"id":3,"method":"m"}"#, "3"),
            (#"{"jsonrpc":"2.0","id":3}"#, "3"), (#"{"jsonrpc":"2.0","id":3,"method":1}"#, "3"),
            (#"{"jsonrpc":"2.0","id":3,"method":"m","params":1}"#, "3"), (#"{"jsonrpc":2.0,"id":3,"method":"m"}"#, "3"),
        ] as [(String, String?)])
    func refuses(_ text: String, _ id: String?) {
        let refusal = refusal(text)
        #expect(
            refusal?.error.name == "invalid_request"
                && refusal?.id.map { String(decoding: $0.bytes, as: UTF8.self) } == id)
    }

    @Test func aMessageHasAtMost128Members() {
        let many = (0..<200).map { "\"x\($0)\":0" }.joined(separator: ",")
        #expect(refusal(#"{"jsonrpc":"2.0","id":3,"method":"m",\#(many)}"#)?.error.name == "invalid_request")
    }

    @Test("A damaged message has the same result with and without the framer's outline")
    func damagedCalls() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array(#"{}[]":,\0129 -.eEu"#.utf8) + [0x00, 0x0A, 0x7F, 0x80, 0xC3, 0xFF]
        var taken = 0
        for _ in 0..<20_000 {
            var text = Array(EnvelopeTests.call.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[place] = alphabet.randomElement(using: &generator) ?? 0
                case 1: text.remove(at: place)
                default: text.insert(alphabet.randomElement(using: &generator) ?? 0, at: place)
                }
            }
            guard let message = framed(text), message.outline != nil else { continue }
            taken += 1
            #expect(
                agree(RPCInput.parse(message), RPCInput.parse(message.bytes)),
                "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(taken > 1_000, "damage inside strings leaves a call")
    }
}
