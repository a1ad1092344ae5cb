import CarpoolJSON
@testable import CarpoolSession
import Testing

struct PropertyListTests {
    private static let everything = StructuredValue.object([
        .init("z", .array([.bool(true), .bool(false), .integer(-1), .integer(.min), .integer(.max), .unsigned(.max)])),
        .init(
            "reals",
            .array([.real(0.1), .real(1), .real(-2.5e300), .real(.leastNonzeroMagnitude), .real(3.141592653589793)])),
        .init("text", .array([.string(""), .string("a<b>&\"'é😃\t\n"), .string("漢字")])),
        .init("data", .array([.data([]), .data([0, 255, 1])])), .init("", .object([])), .init("é", .array([])),
        .init("dates", .array([.date(0), .date(978_307_200), .date(-6_000_000_000), .date(5_000_000_000)])),
    ])

    @Test("PE-14: both forms read back what was written", arguments: PropertyListFormat.allCases)
    func roundTrips(format: PropertyListFormat) throws {
        let bytes = try PropertyList.encode(Self.everything, as: format)
        #expect(bytes.starts(with: (format == .xml ? "<?xml" : "bplist00").utf8))
        #expect(try PropertyList.decode(bytes) == Self.everything)
        for value in [StructuredValue.string("x"), .integer(3), .array([])] {
            #expect(try PropertyList.decode(try PropertyList.encode(value, as: format)) == value)
        }
    }

    @Test("Dates are exact to the microsecond in the binary form, to the second in XML")
    func dates() throws {
        let times = [
            978_307_323.456, 1_700_000_000.123456, 1_800_000_000.999999, 0.5, -0.5, -1_000_000_000.25,
            4_102_444_800.000001,
            // Years of fewer than four digits: 999, 70 and 0.
            -30_641_760_000, -59_958_144_000, -62_167_219_200,
        ]
        for seconds in times {
            #expect(try PropertyList.decode(try PropertyList.encode(.date(seconds), as: .binary)) == .date(seconds))
            let xml = try PropertyList.decode(try PropertyList.encode(.date(seconds), as: .xml))
            #expect(xml == .date(seconds.rounded(.down)))
        }
    }

    @Test("Values that a property list cannot represent")
    func unsayable() throws {
        let deep = (0..<64).reduce(StructuredValue.null) { value, _ in .array([value]) }
        let never: [StructuredValue] = [
            .null, .decimal("1e400"), .real(.nan), .string("a\0b"), .object([.init("\0", .bool(true))]), deep,
        ]
        for format in PropertyListFormat.allCases {
            for value in never {
                let error = #expect(throws: SessionError.self) { try PropertyList.encode(.array([value]), as: format) }
                #expect(error?.name == "parameter_encoding_failed.property_list_encoding_failed")
                #expect(error?.cause("underlying")?.name == "invalid_property_list")
            }
        }
        #expect(throws: SessionError.self) { try PropertyList.encode(.string("\u{1}"), as: .xml) }
        #expect(try PropertyList.decode(try PropertyList.encode(.string("\u{1}"), as: .binary)) == .string("\u{1}"))
        #expect(throws: SessionError.self) { try PropertyList.encode(.date(1e300), as: .xml) }
    }

    @Test("Texts that look the same stay apart; a carriage return is kept", arguments: PropertyListFormat.allCases)
    func bytesOfTexts(format: PropertyListFormat) throws {
        let texts = ["\u{E9}", "e\u{301}", "a\r\nb\r", "&#13;", "]]>", "é&lt;"]
        let read = try PropertyList.decode(try PropertyList.encode(.array(texts.map { .string($0) }), as: format))
        guard case .array(let values) = read else {
            Issue.record("no array: \(read)")
            return
        }
        let found = values.compactMap { value -> [UInt8]? in
            guard case .string(let text) = value else { return nil }
            return Array(text.utf8)
        }
        #expect(found == texts.map { Array($0.utf8) })
    }

    @Test("Counts, integers and references of every width", arguments: PropertyListFormat.allCases)
    func widths(format: PropertyListFormat) throws {
        let edges: [Int64] = [0, 127, 128, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, .max, -1, -128, .min]
        for count in [14, 15, 16, 255, 256, 300] {
            let value = StructuredValue.array(
                [
                    .array((0..<count).map { .integer(Int64($0)) }), .data(Array(repeating: 7, count: count)),
                    .string(String(repeating: "x", count: count)), .string(String(repeating: "漢", count: count)),
                    .object((0..<count).map { .init("\($0)", .bool($0 % 2 == 0)) }),
                ] + edges.map { .integer($0) })
            #expect(try PropertyList.decode(try PropertyList.encode(value, as: format)) == value)
        }
        let many = StructuredValue.array((0..<66_000).map { .integer(Int64($0)) })
        #expect(try PropertyList.decode(try PropertyList.encode(many, as: format)) == many)
    }

    @Test("Equal values are written once in the binary form")
    func equalValues() throws {
        let row = StructuredValue.object([.init("name", .string("a value of some length")), .init("n", .real(0.1))])
        let one = try PropertyList.encode(.array([row]), as: .binary).count
        let many = try PropertyList.encode(.array(Array(repeating: row, count: 11)), as: .binary).count
        // A dictionary of two members, the reference to it, and its offset.
        #expect(many - one == 10 * (5 + 1 + 1))
    }

    @Test("A key twice is refused", arguments: PropertyListFormat.allCases)
    func keyTwice(format: PropertyListFormat) {
        let value = StructuredValue.object([.init("a", .integer(1)), .init("a", .integer(2))])
        let error = #expect(throws: SessionError.self) { try PropertyList.encode(value, as: format) }
        #expect(error?.cause("underlying")?.name == "invalid_property_list")
    }

    @Test(
        "Invalid property lists",
        arguments: [
            "", " ", "x", "bplist00", "{\"a\":1}", "<", "<plist>", "<html></html>",
            "<plist><array></array></array></plist>", "<plist><array><!-- </array></plist>", "<plist/>", "<array/> x",
            "<plist><dict><key>a</key></dict></plist>", "<plist><dict><true/></dict></plist>", "</array>", "<array>",
            "<dict><key>a</key><true/><key>a</key><true/></dict>", "<string>&bomb;</string>",
            "<string>&#xD800;</string>",
            "<string>&amp</string>", "<integer>1.5</integer>", "<real>x</real>", "<data>AP8</data>", "<true>x</true>",
            "<date>2001-01-01</date>", "<date>2001-13-01T00:00:00Z</date>", "<date>2001-01-01T00:00:00.Z</date>",
            "<string>a</array>", "<!DOCTYPE x [<!ENTITY a \"b\">]><string>&a;</string>", "<integer></integer>",
        ])
    func refuses(text: String) {
        let error = #expect(throws: SessionError.self) { try PropertyList.decode(Array(text.utf8)) }
        #expect(error?.name == "invalid_property_list")
    }

    @Test("The output of other writers")
    func foreign() throws {
        let xml = """
            <!-- a --><?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><!-- </dict> --><key>a&amp;</key><string a="<b>">x<!-- &c; --><![CDATA[<y>]]>&#x1F603;&#65;</string><key>n</key>
            <array><integer>-5</integer><real>1.5</real><date>2001-01-01T00:02:03Z</date><data> AP
            8= </data><true/><?x </array> ?><dict/></array></dict></plist>
            """
        #expect(
            try PropertyList.decode(Array(xml.utf8))
                == .object([
                    .init("a&", .string("x<y>😃A")),
                    .init(
                        "n",
                        .array([
                            .integer(-5), .real(1.5), .date(978_307_323), .data([0, 255]), .bool(true), .object([]),
                        ])),
                ]))
    }

    @Test("What Python's writer writes")
    func foreignBinary() throws {
        let base64 = """
            YnBsaXN0MDDUAQIDBAUSExRRYVFkUWVQrAYHCAkKCwwNDg8QERABE//////////+EwAAAQAAAAAAFAAAAAAAAAAAgAAAAAAAAAAU\
            AAAAAAAAAAD//////////yM/+AAAAAAAAAkIQgD/ZADpbyLYPd4DXxEBLHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
            eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
            eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
            eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
            eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eIAFM0Be3S8an7530KAACAARABMAFQAXABgAJQAnADAA\
            OQBKAFsAZABlAGYAaQByAaIBpAGtAa4AAAAAAAACAQAAAAAAAAAVAAAAAAAAAAAAAAAAAAABrw==
            """
        let bytes = try Array(base64.utf8).withUnsafeBytes { try Base64.decode($0) }
        let numbers: [StructuredValue] = [
            .integer(1), .integer(-2), .integer(1 << 40), .unsigned(1 << 63), .unsigned(.max), .real(1.5), .bool(true),
            .bool(false),
        ]
        let others: [StructuredValue] = [
            .data([0, 255]), .string("é漢😃"), .string(String(repeating: "x", count: 300)),
            .object([.init("CF$UID", .integer(5))]),
        ]
        #expect(
            try PropertyList.decode(bytes)
                == .object([
                    .init("a", .array(numbers + others)), .init("d", .date(978_307_323.456)), .init("e", .object([])),
                    .init("", .array([])),
                ]))
    }

    @Test("Dates in XML, in every part of a cycle of 400 years")
    func dates400() throws {
        for seconds in stride(from: -62_167_219_200.0, to: 253_402_300_800, by: 40_000_003) {
            let text = try #require(DateFormat("%FT%TZ")?.text(forSecondsSince1970: seconds))
            #expect(try PropertyList.decode(Array("<date>\(text)</date>".utf8)) == .date(seconds))
        }
        #expect(try PropertyList.decode(Array("<date>1970-01-01T00:00:00.25Z</date>".utf8)) == .date(0.25))
    }

    @Test("Nesting is bounded")
    func nesting() throws {
        func xml(_ depth: Int) -> [UInt8] {
            Array(
                ("<plist version=\"1.0\">" + String(repeating: "<array>", count: depth)
                    + String(repeating: "</array>", count: depth) + "</plist>").utf8)
        }
        _ = try PropertyList.decode(xml(64))
        for depth in [65, 300_000] { #expect(throws: SessionError.self) { try PropertyList.decode(xml(depth)) } }
    }

    /// Array i holds array i+1 `width` times.
    private static func ladder(height: Int, width: Int, closing: Int? = nil) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for level in 0..<height {
            offsets.append(bytes.count)
            let next = level + 1 < height ? level + 1 : closing
            bytes.append(0xA0 | UInt8(next == nil ? 0 : width))
            if let next { bytes += Array(repeating: UInt8(next), count: width) }
        }
        let table = bytes.count
        for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 255)] }
        bytes += [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [height, 0, table] { bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
        return bytes
    }

    @Test("Shared objects count for each place that holds them, and none holds itself")
    func sharing() throws {
        _ = try PropertyList.decode(Self.ladder(height: 4, width: 10))
        _ = try PropertyList.decode(Self.ladder(height: 64, width: 1))
        for list in [
            Self.ladder(height: 30, width: 10), Self.ladder(height: 65, width: 1),
            Self.ladder(height: 3, width: 2, closing: 0),
            Self.ladder(height: 1, width: 1, closing: 0),
        ] {
            #expect(throws: SessionError.self) { try PropertyList.decode(list) }
        }
    }

    @Test("B5: the values of a container are counted before there is memory for them")
    func countedFirst() throws {
        let references = PropertyList.maximumValues
        for (marker, divisor) in [(0xAF, 1), (0xDF, 2)] as [(UInt8, Int)] {
            var bytes = Array("bplist00".utf8) + [marker, 0x12]
            let count = references / divisor
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            bytes += [UInt8](repeating: 0, count: references)
            let table = bytes.count
            bytes += [8, 0, 0, 0, 0, 0, 0, 1, 1]
            for number in [1, 0, table] { bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
            // With the first level every value is spent: the second is not begun.
            let error = #expect(throws: SessionError.self) { try PropertyList.decode(bytes) }
            #expect(error.map { "\($0)".contains("more than 500000 values") } == true)
        }
    }

    @Test("10,000 damaged lists are read or refused")
    func mutations() throws {
        var random = SeededGenerator(seed: 42)
        let seeds = try PropertyListFormat.allCases.map { try PropertyList.encode(Self.everything, as: $0) }
        var read = 0
        for round in 0..<10_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                case 2: bytes.remove(at: place)
                case 3: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 30))
                }
            }
            if let value = try? PropertyList.decode(bytes) {
                read += 1
                _ = try? PropertyList.encode(value, as: .xml)
                _ = try? PropertyList.encode(value, as: .binary)
            }
        }
        #expect(read > 0)
    }
}
