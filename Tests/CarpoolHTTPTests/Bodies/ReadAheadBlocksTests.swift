import Testing

@testable import CarpoolHTTP

@Suite struct ReadAheadBlocksTests {
    private static func fill(_ blocks: inout ReadAheadBlocks, _ text: String) {
        let block = blocks.empty(bytes: 8)
        block.buffer.copyBytes(from: text.utf8)
        block.count = text.utf8.count
        blocks.append(block)
    }

    private static func take(_ blocks: inout ReadAheadBlocks, _ count: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard let taken = bytes.withUnsafeMutableBytes({ blocks.take(into: $0) }) else { return nil }
        return String(decoding: bytes[..<taken], as: UTF8.self)
    }

    @Test func bytesComeInOrderWhateverIsTakenAtATime() {
        var blocks = ReadAheadBlocks()
        #expect(Self.take(&blocks, 4) == nil)
        Self.fill(&blocks, "hello")
        #expect(!blocks.isFull)
        Self.fill(&blocks, "world")
        #expect(blocks.isFull)
        #expect(Self.take(&blocks, 3) == "hel")
        #expect(Self.take(&blocks, 8) == "lo")
        #expect(!blocks.isFull)
        #expect(Self.take(&blocks, 8) == "world")
        #expect(blocks.isEmpty)
    }

    @Test func aBufferIsUsedAgainIfItIsLargeEnough() {
        var blocks = ReadAheadBlocks()
        Self.fill(&blocks, "hello")
        #expect(Self.take(&blocks, 8) == "hello")
        let spare = blocks.empty(bytes: 4)
        #expect(spare.buffer.count == 8)
        #expect(spare.count == 0)
        blocks.append(spare)
        #expect(blocks.isEmpty)
        #expect(blocks.empty(bytes: 4) === spare)
        blocks.append(spare)
        #expect(blocks.empty(bytes: 16) !== spare)
    }

    @Test func nothingIsLeftOfWhatIsDropped() {
        var blocks = ReadAheadBlocks()
        Self.fill(&blocks, "hello")
        #expect(Self.take(&blocks, 2) == "he")
        blocks.removeAll()
        Self.fill(&blocks, "world")
        #expect(Self.take(&blocks, 8) == "world")
    }
}
