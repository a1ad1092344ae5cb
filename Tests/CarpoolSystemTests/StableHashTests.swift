import CarpoolSystem
import Testing

@Suite struct StableHashTests {
    /// The published test vectors of FNV-1a with 64 bits.
    @Test(
        arguments: [("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8)]
            as [(String, UInt64)])
    func isFNV1a(_ text: String, _ expected: UInt64) {
        #expect(StableHash(text.utf8).value == expected)
    }
}
