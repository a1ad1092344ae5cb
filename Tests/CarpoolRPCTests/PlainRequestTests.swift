import CarpoolJSON
import Testing

@testable import CarpoolRPC

/// The short way must never take what the parser would refuse, nor read it otherwise.
struct PlainRequestTests {
    private static let call =
        #"{"jsonrpc":"2.0","id":17,"method":"request.perform","params":{"url":"http://h/","n":[1,{"a":"]}"}]}}"#

    private func plain(_ text: [UInt8]) -> RPCRequest? { text.withUnsafeBytes { PlainRequest.read($0) } }

    /// What the parser makes of the text; nil if it is no call.
    private func parsed(_ text: [UInt8]) -> RPCRequest? {
        text.withUnsafeBytes { text in
            guard let json = try? JSON.parse(text), case .request(let request) = RPCMessage(json, text: text) else {
                return nil
            }
            return request
        }
    }

    private func agree(_ a: RPCRequest, _ b: RPCRequest?) -> Bool {
        guard let b, a.id == b.id, a.id?.bytes == b.id?.bytes, a.method == b.method else { return false }
        guard let params = a.params, let others = b.params else { return a.params == nil && b.params == nil }
        return params == others
    }

    @Test(arguments: [
        call, #"{"method":"m","jsonrpc":"2.0"}"#,
        #" { "params" : [ 1 ] , "id" : "a-1" , "method" : "m" , "jsonrpc" : "2.0" } "#,
        #"{"jsonrpc":"2.0","id":0,"method":"m","params":{}}"#,
    ])
    func takesTheUsualCall(_ text: String) {
        let request = plain(Array(text.utf8))
        #expect(request != nil)
        if let request { #expect(agree(request, parsed(Array(text.utf8)))) }
    }

    @Test(arguments: [
        "", "{", "{}", "[]", call + "x", call + call, #"{"jsonrpc":"2.0","method":"m",}"#,
        #"{"jsonrpc":"2.0" "method":"m"}"#,
        #"{"jsonrpc":"1.0","method":"m"}"#, #"{"method":"m"}"#, #"{"jsonrpc":"2.0","method":"m","method":"m"}"#,
        #"{"jsonrpc":"2.0","jsonrpc":"2.0","method":"m"}"#, #"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
        #"{"jsonrpc":"2.0","method":"m","params":{"a":1]}"#, #"{"jsonrpc":"2.0","method":"m","params":{"a":1,"a":2}}"#,
        #"{"jsonrpc":"2.0","method":"m","params":1}"#, #"{"jsonrpc":"2.0","method":"m","params":null}"#,
        #"{"jsonrpc":"2.0","method":"m","id":01}"#, #"{"jsonrpc":"2.0","method":"m","id":1.0}"#,
        #"{"jsonrpc":"2.0","method":"m","id":-1}"#,
        #"{"jsonrpc":"2.0","method":"m","id":null}"#, #"{"jsonrpc":"2.0","method":"m\u0041"}"#,
        #"{"jsonrpc":"2.0","method":"mé"}"#,
        #"{"jsonrpc":"2.0","method":"m","id":12345678901234567890}"#, #"{"jsonrpc":"2.0","method":"m","extra":1}"#,
        #"{"jsonrpc":"2.0","id":1,"result":1}"#,
    ])
    func leavesEverythingElseToTheParser(_ text: String) {
        #expect(plain(Array(text.utf8)) == nil)
    }

    @Test func neverDisagreesWithTheParserOnDamagedCalls() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array(#"{}[]":,\0129 -.eE"#.utf8) + [0x00, 0x0A, 0x7F, 0x80, 0xC3, 0xFF]
        var taken = 0
        for _ in 0..<20_000 {
            var text = Array(PlainRequestTests.call.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[place] = alphabet.randomElement(using: &generator) ?? 0
                case 1: text.remove(at: place)
                default: text.insert(alphabet.randomElement(using: &generator) ?? 0, at: place)
                }
            }
            guard let request = plain(text) else { continue }
            taken += 1
            #expect(agree(request, parsed(text)), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(taken > 1_000, "damage inside strings leaves a call")
    }
}
