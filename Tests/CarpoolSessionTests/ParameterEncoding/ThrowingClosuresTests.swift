import CarpoolSession
import Testing

struct ThrowingClosuresTests {
    private struct NoSuchValue: Error {}

    @Test("F11: an error of a program's own closure is the cause of the encoder's")
    func f11Errors() throws {
        var encoder = URLEncodedFormEncoder()
        encoder.date = .custom { _ in throw NoSuchValue() }
        encoder.data = .custom { _ in throw SessionError("no_bytes", "bytes are not sent") }
        let date = #expect(throws: SessionError.self) { try encoder.encode(.object([.init("a", .date(1))])) }
        #expect(date?.name == "parameter_encoder_failed.encoder_failed" && date?.cause("underlying")?.name == "thrown")
        let data = #expect(throws: SessionError.self) { try encoder.encode(.object([.init("a", .data([1]))])) }
        #expect(data?.cause("underlying")?.name == "no_bytes")
    }
}
