internal import CPlist

/// The two supported formats of property lists.
public enum PropertyListFormat: String, Sendable, CaseIterable {
    /// XML: dates to the second, reals with all needed digits.
    case xml
    /// Apple's binary form (`bplist00`).
    case binary
}

/// Writes property lists with libplist, and reads them without it.
///
/// Input comes from the network, and libplist ends the process over a key with U+0000 and over deep nesting; output is trusted.
/// Dates and integers of 64 bits are passed to it as property lists of one value, because its functions for them have a smaller range.
public enum PropertyList {
    /// The longest property list that is read, in bytes: 16 MiB, since it is read as a whole on the loop.
    public static let maximumBytes = 16 << 20

    /// Writes a value. The members of an object keep their order.
    /// - Throws: `parameter_encoding_failed.property_list_encoding_failed` for values that a property list lacks: null, decimals, infinities and
    ///   NaN, texts with U+0000 and, in XML, with other control characters (XML 1.0, section 2.2), dates outside the years 0 to 9999 in XML;
    ///   and for values deeper than ``StructuredValue/maximumDepth``.
    public static func encode(_ value: StructuredValue, as format: PropertyListFormat) throws(SessionError) -> [UInt8] {
        do throws(EncodingFailure) {
            let root = try PropertyListBuilder(format: format).node(value, depth: 0)
            defer { plist_free(root) }
            guard let bytes = bytes(of: root, as: format), !bytes.isEmpty else {
                throw .invalidPropertyList("libplist did not write it")
            }
            return bytes
        } catch {
            throw .propertyListEncodingFailed(error)
        }
    }

    /// The most values that are read, counted for each reference of a binary list: a list of a hundred bytes may refer to a million.
    public static let maximumValues = 500_000

    /// Reads a property list of either format. Integers beyond 63 bits become `unsigned`, archive references objects with the member
    /// `CF$UID`, as in Apple's XML.
    /// - Throws: `invalid_property_list` for anything else, for more than ``maximumBytes`` or ``maximumValues``, and for values deeper than
    ///   ``StructuredValue/maximumDepth``.
    public static func decode(_ bytes: [UInt8]) throws(SessionError) -> StructuredValue {
        do throws(EncodingFailure) {
            guard bytes.count <= maximumBytes else {
                throw .invalidPropertyList("it has more than \(maximumBytes) bytes")
            }
            if bytes.starts(with: "bplist0".utf8) {
                var reader = try BinaryPropertyListReader(bytes)
                return try reader.read()
            }
            var reader = XMLPropertyListReader(bytes)
            return try reader.read()
        } catch {
            throw error.sessionError
        }
    }

    fileprivate static func node(from bytes: [UInt8], as format: PropertyListFormat) -> plist_t? {
        bytes.withUnsafeBytes { raw in
            var node: plist_t?
            let start = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
            let count = UInt32(truncatingIfNeeded: raw.count)
            switch format {
            case .xml: plist_from_xml(start, count, &node)
            case .binary: plist_from_bin(start, count, &node)
            }
            return node
        }
    }

    fileprivate static func bytes(of node: plist_t, as format: PropertyListFormat) -> [UInt8]? {
        var text: UnsafeMutablePointer<CChar>?
        var count: UInt32 = 0
        switch format {
        case .xml: plist_to_xml(node, &text, &count)
        case .binary: plist_to_bin(node, &text, &count)
        }
        guard let text else { return nil }
        defer { if format == .xml { plist_to_xml_free(text) } else { plist_to_bin_free(text) } }
        let written = UnsafeRawBufferPointer(start: text, count: Int(count))
        return format == .xml ? withWholeYears(written) : Array(written)
    }

    /// The text with years of four digits: libplist writes those before 1000 without zeros, which readers reject (RFC 3339). No text or key
    /// looks like a date's tag, since XML writes `<` as an entity.
    private static func withWholeYears(_ xml: UnsafeRawBufferPointer) -> [UInt8] {
        let tag = Array("<date>".utf8)
        var output: [UInt8] = []
        output.reserveCapacity(xml.count)
        var copied = 0
        for index in xml.indices where xml[index] == tag[0] && xml[index...].starts(with: tag) {
            let year = index &+ tag.count
            let digits = xml[year...].prefix { $0 &- UInt8(ascii: "0") < 10 }.count
            output += xml[copied..<year]
            output += repeatElement(UInt8(ascii: "0"), count: max(0, 4 - digits))
            copied = year
        }
        return output + xml[copied...]
    }
}

/// Makes libplist's nodes.
private struct PropertyListBuilder {
    let format: PropertyListFormat

    /// A node that the caller owns.
    func node(_ value: StructuredValue, depth: Int) throws(EncodingFailure) -> plist_t {
        guard depth < StructuredValue.maximumDepth else { throw .invalidPropertyList("it is nested too deep") }
        switch value {
        case .array(let elements): return try array(elements, depth: depth)
        case .object(let members): return try dictionary(members, depth: depth)
        case .string(let text): return try made(plist_new_string(checked(text)))
        case .bool(let bool): return try made(plist_new_bool(bool ? 1 : 0))
        case .integer(let integer): return try made(plist_new_uint(UInt64(bitPattern: integer)))
        case .unsigned(let integer): return try unsigned(integer)
        case .real(let real):
            guard real.isFinite else { throw .invalidPropertyList("a property list has no \(real)") }
            return try made(plist_new_real(real))
        case .data(let bytes):
            return try made(
                bytes.withUnsafeBytes {
                    plist_new_data($0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, UInt64($0.count))
                })
        case .date(let seconds): return try date(seconds)
        case .null:
            throw .invalidPropertyList("a property list has no null", hint: "leave the member out")
        case .number(let text):
            guard let real = Double(text), real.isFinite else { throw unknown(text) }
            return try made(plist_new_real(real))
        case .decimal(let text): throw unknown(text)
        }
    }

    private func unknown(_ number: String) -> EncodingFailure {
        .invalidPropertyList("a property list has no number like \(number.prefix(40))", hint: "send it as a string")
    }

    private var emptyText: UnsafePointer<CChar> {
        UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    }

    private func made(_ node: plist_t?) throws(EncodingFailure) -> plist_t {
        guard let node else { throw .invalidPropertyList("there was no memory for it") }
        return node
    }

    private func array(_ elements: [StructuredValue], depth: Int) throws(EncodingFailure) -> plist_t {
        let array = try made(plist_new_array())
        do throws(EncodingFailure) {
            for element in elements { plist_array_append_item(array, try node(element, depth: depth + 1)) }
        } catch {
            plist_free(array)
            throw error
        }
        return array
    }

    private func dictionary(_ members: [StructuredValue.Member], depth: Int) throws(EncodingFailure) -> plist_t {
        let dictionary = try made(plist_new_dict())
        do throws(EncodingFailure) {
            for member in members {
                let name = try checked(member.name)
                plist_dict_set_item(dictionary, name, try node(member.value, depth: depth + 1))
            }
        } catch {
            plist_free(dictionary)
            throw error
        }
        return dictionary
    }

    /// C strings end at U+0000; XML has no way to write most of the other control characters.
    private func checked(_ text: String) throws(EncodingFailure) -> String {
        let isPossible = text.utf8.allSatisfy { byte in
            byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || (format == .binary && byte != 0)
        }
        guard isPossible else {
            throw .invalidPropertyList("a text has control characters that the format cannot write")
        }
        return text
    }

    /// Through XML, because `plist_new_uint` reads the 64th bit as a sign.
    private func unsigned(_ integer: UInt64) throws(EncodingFailure) -> plist_t {
        let text = "<plist version=\"1.0\"><integer>\(integer)</integer></plist>"
        return try made(PropertyList.node(from: Array(text.utf8), as: .xml))
    }

    /// Through the binary form, because `plist_new_date` has whole seconds of 32 bits.
    private func date(_ seconds: Double) throws(EncodingFailure) -> plist_t {
        let isPossible =
            format == .xml ? DateFormat.internet.text(forSecondsSince1970: seconds) != nil : seconds.isFinite
        guard isPossible else { throw .invalidDate(seconds) }
        // libplist would round the fraction towards its own epoch.
        let whole = format == .xml ? seconds.rounded(.down) : seconds
        let bits = DateValue.sinceReferenceDate(whole).bitPattern
        var list = Array("bplist00".utf8) + [0x33]
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            list.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        // The table with the one offset, 8; then the trailer: sizes of offsets and references, one object, the first, and the table's place.
        list += [8] + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
        list += [0, 0, 0, 0, 0, 0, 0, 17]
        return try made(PropertyList.node(from: list, as: .binary))
    }
}
