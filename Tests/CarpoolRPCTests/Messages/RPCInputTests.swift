import CarpoolJSON
import CarpoolRPC
import Testing

@Suite struct RPCInputTests {
    private func id(_ text: String) throws -> RPCID? { RPCID(try JSON.parse(Array(text.utf8))) }

    private func request(_ text: String) -> RPCRequest? {
        guard case .single(.request(let request)) = RPCInput.parse(Array(text.utf8)) else { return nil }
        return request
    }

    @Test func idsAreTheSameIfTheirValuesAre() throws {
        let escaped = request(#"{"jsonrpc":"2.0","method":"m","id":"\u0061"}"#)?.id
        #expect(escaped?.bytes == Array(#""\u0061""#.utf8))
        #expect(try escaped == id(#""a""#) && escaped?.hashValue == id(#""a""#)?.hashValue)
        #expect(try id("1") != id("1.0") && id("1") != id(#""1""#) && id("0") != id("-0"))
        #expect(try id("99999999999999999999") == id("99999999999999999999"))
        #expect(try id("true") == nil && id("[]") == nil && id("{}") == nil)
    }

    @Test func readsResponses() throws {
        guard
            case .single(.response(let answer)) = RPCInput.parse(Array(#"{"jsonrpc":"2.0","id":3,"result":null}"#.utf8)),
            case .result(let result) = answer.outcome
        else { return #expect(Bool(false)) }
        #expect(try result.isNull && answer.id == id("3"))
        guard
            case .single(.response(let failure)) = RPCInput.parse(
                Array(#"{"jsonrpc":"2.0","id":3,"error":{"code":1}}"#.utf8)),
            case .error(let error) = failure.outcome
        else { return #expect(Bool(false)) }
        #expect(error["code"]?.int == 1)
    }

    @Test func anErrorIsShortHoweverLongTheNameIs() throws {
        let long = String(repeating: "x", count: 500_000)
        var writer = JSONWriter()
        Catalogue.carpool.methodNotFound(long).write(to: &writer)
        RPCError.requestNotFound(long).write(to: &writer)
        RPCError.capabilityMissing([long]).write(to: &writer)
        #expect(writer.bytes.count < 2_000)
    }

    /// Messages with bytes changed, removed and repeated: every input is a message or an error, and ids are JSON.
    @Test func damagedMessagesNeverCrash() throws {
        var generator = SeededGenerator(seed: 29)
        let whole = Array(
            #"[{"jsonrpc":"2.0","id":"a\"b","method":"m","params":{"x":[1,2,{"id":3}]}},{"id":1.50e2 ,"\u0069":[]}]"#
                .utf8)
        let alphabet = Array(#"{}[]",:\ 09eu.-"#.utf8)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = alphabet.randomElement(using: &generator) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(7), at: place)
                }
            }
            guard case .batch(let messages) = RPCInput.parse(bytes) else { continue }
            for case .request(let request) in messages {
                guard let id = request.id else { continue }
                #expect(try RPCID(JSON.parse(id.bytes)) == id)
            }
        }
    }

    @Test("B4: a message of a batch is parsed on access, and an array is not a message")
    func lazily() throws {
        let text = #"[{"jsonrpc":"2.0","id":1,"method":"a"},[1],2,{"jsonrpc":"2.0","id":2,"method":"b"}]"#
        guard case .batch(let messages) = RPCInput.parse(Array(text.utf8)) else {
            Issue.record("no batch")
            return
        }
        #expect(messages.count == 4)
        #expect(messages.text(at: 1).bytes == Array("[1]".utf8))
        guard case .single(.invalid(nil, let error)) = RPCInput.parse(messages.text(at: 1), isInBatch: true) else {
            Issue.record("an array in a batch is a message")
            return
        }
        #expect(error.name == "invalid_request")
        guard case .request(let last) = messages[3] else {
            Issue.record("no request")
            return
        }
        #expect(last.method == "b")
        guard case .single(.invalid(nil, _)) = RPCInput.parse(messages.text(at: 2), isInBatch: true) else {
            Issue.record("a number in a batch is a message")
            return
        }
    }

    @Test("B4: large strings do not count as structure")
    func structure() throws {
        let long = String(repeating: "x", count: 10_000)
        let message = try MessageText(Array(#"{"a":"\#(long)","b":[1,2,3]}"#.utf8)).read()
        #expect(message.structureBytes == message.bytes.count - 10_002)
        let numbers = [String](repeating: "1", count: 5_000).joined(separator: ",")
        let other = try MessageText(Array("{\"a\":[\(numbers)]}".utf8)).read()
        #expect(other.structureBytes == other.bytes.count)
    }
}
