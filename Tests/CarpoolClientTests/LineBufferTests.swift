import CarpoolSystem
import Testing

@testable import CarpoolClient

struct LineBufferTests {
    private func feed(_ buffer: inout LineBuffer, _ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            _ = buffer.fill { room in
                let count = min(room.count, rest.count)
                room.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return .bytes(count)
            }
        }
    }

    private func lines(_ buffer: inout LineBuffer) -> [String] {
        var lines: [String] = []
        while case .line(let line) = buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test(arguments: [1, 2, 3, 7, 100]) func linesAreTheSameHoweverTheyArrive(_ size: Int) {
        let text = Array("{\"a\":1}\n\n[2]\nlast\nopen".utf8)
        var buffer = LineBuffer()
        var found: [String] = []
        for start in stride(from: 0, to: text.count, by: size) {
            feed(&buffer, text[start..<min(text.count, start + size)])
            found += lines(&buffer)
        }
        #expect(found == ["{\"a\":1}", "", "[2]", "last"])
        #expect(buffer.next() == .needsBytes)
    }

    @Test func aLineMayBeLargerThanTheFirstRoom() {
        var buffer = LineBuffer()
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        feed(&buffer, (long + [UInt8(ascii: "\n")])[...])
        #expect(buffer.next() == .line(long[...]))
        feed(&buffer, Array("y\n".utf8)[...])
        #expect(lines(&buffer) == ["y"])
    }

    @Test func aStreamOfLinesTakesNoMoreMemoryHoweverLongItIs() {
        var buffer = LineBuffer()
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 999) + [UInt8(ascii: "\n")]
        var count = 0
        // Each piece ends amid a line, so that the buffer is never empty.
        feed(&buffer, line[..<500])
        for _ in 0..<1_000 {
            feed(&buffer, line[500...] + line[..<500])
            for found in lines(&buffer) {
                #expect(found.utf8.count == 999)
                count += 1
            }
        }
        #expect(count == 1_000)
        #expect(buffer.capacityBytes <= 32_768)
    }

    @Test func aLineWithoutEndIsRefused() {
        var buffer = LineBuffer(limit: 100_000)
        feed(&buffer, [UInt8](repeating: UInt8(ascii: "x"), count: 100_001)[...])
        #expect(buffer.next() == .tooLong)
    }

    @Test func itKnowsWhetherAnythingEverCame() {
        var buffer = LineBuffer()
        #expect(buffer.isUntouched)
        #expect(buffer.fill { _ in .endOfFile } == .endOfFile)
        #expect(buffer.isUntouched)
        feed(&buffer, [0][...])
        #expect(!buffer.isUntouched)
    }
}
