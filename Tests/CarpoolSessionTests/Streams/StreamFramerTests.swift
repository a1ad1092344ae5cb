import CarpoolJSON
@testable import CarpoolSession
import Testing

/// The records of the vectors, which other languages read too: the same for every split of the bytes by the network.
struct StreamFramerTests {
    /// The longest JSON form of a record in the vectors.
    private static let recordBytes = 1_024

    @Test("ST-07: the vectors, split at every position", arguments: try Vectors.rows("streams").map(StreamVector.init))
    func vectors(_ vector: StreamVector) throws {
        for size in [1, 2, 3, 5, 7, 64, 1_000, 100_000] {
            let records = StreamFramerTests.records(vector.bytes, vector.serializer, cutEvery: size)
            #expect(StreamFramerTests.told(records, vector.serializer) == vector.records, "cut every \(size) bytes")
        }
    }

    @Test("Every byte is counted once", arguments: try Vectors.rows("streams").map(StreamVector.init))
    func counts(_ vector: StreamVector) {
        let records = StreamFramerTests.records(vector.bytes, vector.serializer, cutEvery: 3)
        #expect(records.map(\.sizeBytes).reduce(0, +) <= vector.bytes.count)
        if vector.serializer == .text { #expect(records.map(\.sizeBytes).reduce(0, +) == vector.bytes.count) }
    }

    @Test("No record is longer than the limit", arguments: StreamSerializer.allCases)
    func limit(_ serializer: StreamSerializer) {
        var dice = SeededGenerator(seed: 7)
        let alphabet = Array("data: \n\r\u{1}\u{7F}é\"\\".utf8) + [0xFF, 0xC3]
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0..<4_000, using: &dice)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &dice)]
            }
            let records = StreamFramerTests.records(bytes, serializer, cutEvery: Int.random(in: 1...999, using: &dice))
            #expect(records.allSatisfy { $0.encodedBytes <= StreamFramerTests.recordBytes })
        }
    }

    @Test("A line of as many bytes as the limit is whole, and one more is too long", arguments: ["\n", "\r\n"])
    func lineOfTheLimit(_ end: String) {
        var splitter = LineSplitter(limit: 3)
        let whole = Array("abc\(end)".utf8).withUnsafeBytes { splitter.take($0).line }
        #expect(whole == .whole(Array("abc".utf8)))
        let long = Array("abcd\(end)".utf8).withUnsafeBytes { splitter.take($0).line }
        #expect(long == .tooLong)
    }

    @Test("Pieces are no larger than the room for them", arguments: [StreamSerializer.bytes, .text])
    func room(_ serializer: StreamSerializer) {
        var framer = serializer.makeFramer(recordBytes: 1_000)
        let bytes = Array(repeating: UInt8(ascii: "x"), count: 500)
        let (taken, record) = bytes.withUnsafeBytes { framer.take($0, room: 10) }
        #expect(taken == 10)
        #expect(record?.sizeBytes == 10)
    }

    @Test("Bytes of an incomplete character count as well")
    func roomForTheRest() {
        var framer = TextFramer(limit: 1_000)
        let bytes = Array("éé".utf8)
        let first = bytes[..<3].withUnsafeBytes { framer.take($0, room: 3) }
        #expect(first.record?.sizeBytes == 2)
        let second = Array("éé".utf8.dropFirst()).withUnsafeBytes { framer.take($0, room: 3) }
        #expect(second.taken == 2)
        #expect(second.record?.sizeBytes == 2)
    }

    @Test(
        "Bytes that make no record are not kept",
        arguments: [
            (StreamSerializer.events, ": ping\n\n"), (.events, ": ping\r\n"), (.events, "unknown: 1\r"), (.lines, "x"),
            (.jsonLines, " \r\n"), (.jsonLines, "1"), (.text, "x"), (.bytes, "x"),
        ])
    func passedOver(_ serializer: StreamSerializer, _ text: String) {
        var framer = serializer.makeFramer(recordBytes: StreamFramerTests.recordBytes)
        for _ in 0..<20_000 {
            var rest = Array(text.utf8)
            while !rest.isEmpty {
                rest.removeFirst(rest.withUnsafeBytes { framer.take($0, room: .max) }.taken)
            }
            guard framer.unfinishedBytes <= StreamFramerTests.recordBytes + 1 else { break }
        }
        #expect(framer.unfinishedBytes <= StreamFramerTests.recordBytes + 1)
    }

    @Test("An event that never ends is skipped, with any lines")
    func endlessEvent() {
        var framer = EventStreamFramer(limit: StreamFramerTests.recordBytes)
        let records = (0..<10_000).compactMap { index in
            Array((index == 0 ? "data: x\n" : ": ping\n").utf8).withUnsafeBytes { framer.take($0, room: .max) }.record
        }
        #expect(records.count == 1)
        guard case .failure = records.first?.result else { return #expect(Bool(false), "a failure") }
        #expect(framer.unfinishedBytes == 0)
    }

    @Test("unfinishedBytes counts the bytes of an incomplete record", arguments: [1, 3, 100])
    func unfinished(_ size: Int) {
        for (serializer, whole, begun) in [
            (StreamSerializer.lines, "one\r\n", "two"),
            (.events, ": ping\r\n\r\n: x\r\n", "id: 1\r\n: c\r\ndata: x\r\n"),
            (.text, "é", "\u{10FFFF}"),
        ] {
            var framer = serializer.makeFramer(recordBytes: StreamFramerTests.recordBytes)
            let bytes = Array((whole + begun).utf8).dropLast(serializer == .text ? 1 : 0)
            for start in stride(from: 0, to: bytes.count, by: size) {
                var rest = Array(bytes[start..<min(bytes.count, start + size)])
                while !rest.isEmpty {
                    rest.removeFirst(rest.withUnsafeBytes { framer.take($0, room: .max) }.taken)
                }
            }
            #expect(framer.unfinishedBytes == begun.utf8.count - (serializer == .text ? 1 : 0), "\(serializer)")
        }
    }

    // MARK: Parts

    private static func records(
        _ bytes: [UInt8], _ serializer: StreamSerializer, cutEvery size: Int
    ) -> [StreamRecord] {
        var framer = serializer.makeFramer(recordBytes: recordBytes)
        var records: [StreamRecord] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            var rest = bytes[start..<min(bytes.count, start + size)]
            while !rest.isEmpty {
                let (taken, record) = Array(rest).withUnsafeBytes { framer.take($0, room: .max) }
                rest = rest.dropFirst(taken)
                if let record { records.append(record) }
            }
        }
        if let record = framer.finish() { records.append(record) }
        return records
    }

    /// The records in the form of the vectors.
    private static func told(_ records: [StreamRecord], _ serializer: StreamSerializer) -> [String] {
        let told = records.map { StreamVector.told($0) }
        return serializer == .text && !told.isEmpty ? [told.joined()] : told
    }
}

/// One row of `streams.jsonl`.
struct StreamVector: Sendable, CustomTestStringConvertible {
    let serializer: StreamSerializer
    let bytes: [UInt8]
    let records: [String]
    let testDescription: String

    init(_ row: JSON) throws {
        let serializer = try #require(row["as"]?.string.flatMap(StreamSerializer.init(rawValue:)))
        self.serializer = serializer
        bytes = try Base64.decode(Array(try #require(row["base64"]?.string).utf8))
        testDescription = "\(serializer.rawValue): \(row["note"]?.string ?? "")"
        var told: [String] = []
        try #require(row["records"]).forEachElement { record in
            if serializer != .jsonLines, let text = record.string { return told.append(text) }
            if let error = record["error"]?.string { return told.append("error: \(error)") }
            if serializer == .events { return told.append(StreamVector.told(record)) }
            var writer = JSONWriter()
            writer.value(record)
            told.append(String(decoding: writer.bytes, as: UTF8.self))
        }
        records = told
    }

    static func told(_ record: StreamRecord) -> String {
        switch record.result {
        case .failure(let error): "error: \(error.name)"
        case .success(.bytes(let bytes)): "\(bytes)"
        case .success(.text(let text)): text
        case .success(.json(let json)): String(decoding: json.bytes, as: UTF8.self)
        case .success(.event(let event)):
            told(event.type, event.data, event.id, event.retryMilliseconds)
        }
    }

    private static func told(_ event: JSON) -> String {
        told(
            event["event"]?.string ?? "", event["data"]?.string ?? "", event["id"]?.string ?? "",
            event["retry_ms"]?.int)
    }

    private static func told(_ type: String, _ data: String, _ id: String, _ retry: Int?) -> String {
        "\(type.debugDescription) \(data.debugDescription) \(id.debugDescription) \(retry ?? -1)"
    }
}

extension Base64 {
    fileprivate static func decode(_ text: [UInt8]) throws -> [UInt8] {
        try text.withUnsafeBytes { (bytes) throws(JSONError) in try decode(bytes) }
    }
}
