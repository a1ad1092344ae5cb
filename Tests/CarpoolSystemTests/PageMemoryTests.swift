import CarpoolSystem
import Testing

struct PageMemoryTests {
    @Test("The memory is there to its last byte, zero at first, and goes back to the system at once")
    func pages() throws {
        var pages: PageMemory? = PageMemory(byteCount: 100_001)
        let bytes = try #require(pages?.bytes)
        #expect(bytes.count == 100_001)
        #expect(Int(bitPattern: bytes.baseAddress) % 4_096 == 0)
        #expect(bytes.allSatisfy { $0 == 0 })
        bytes[100_000] = 1
        #expect(bytes[100_000] == 1)
        pages = nil
        #expect(PageMemory(byteCount: 0).bytes.count == 1)
    }
}
