@testable import CarpoolSession
import Testing

// The vectors are read in CarpoolServerTests; here are the values that JSON on the wire cannot represent.
struct JSONParameterEncoderTests {
    @Test(
        "PE-12: a value that JSON cannot represent fails with its cause",
        arguments: [
            (.real(.nan), "invalid_json_object"), (.real(-.infinity), "invalid_json_object"),
            (.date(.infinity), "invalid_json_object"), (.decimal("],["), "invalid_number"),
        ] as [(StructuredValue, String)])
    func unsayable(value: StructuredValue, cause: String) throws {
        let error = try #require(throws: SessionError.self) {
            try JSONParameterEncoder().encode(.object([.init("a", .array([value]))]))
        }
        #expect(error.name == "parameter_encoding_failed.json_encoding_failed")
        guard case .error(let underlying) = error.details.first(where: { $0.name == "underlying" })?.value else {
            Issue.record("it has no cause")
            return
        }
        #expect(underlying.name == cause)
        #expect(!error.isRetryable)
    }
}
