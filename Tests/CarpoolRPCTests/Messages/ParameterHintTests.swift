import CarpoolRPC
import Testing

struct ParameterHintTests {
    @Test("The hint of a refused parameter is what is expected, unless the message has it or a name is near")
    func hints() {
        func hint(_ message: String, _ expected: String?, _ near: String? = nil) -> String? {
            RPCError.invalidParams(path: "params.a", message: message, expected: expected, didYouMean: near).hint
        }
        let general = hint("x", nil)
        #expect(hint("not a port", "a number") == "Expected: a number.")
        #expect(hint("expected a number, found a string", "a number") == general)
        #expect(hint("is not known", "one of b, c", "b") == "Did you mean b?")
        #expect(hint("is not known", String(repeating: "name, ", count: 100)) == general)
    }
}
