/// The two supported formats of property lists.
public enum PropertyListFormat: String, Sendable, CaseIterable {
    /// XML: dates to the second, reals with the fewest digits that read back the same.
    case xml
    /// Apple's binary form (`bplist00`).
    case binary
}

/// Writes and reads property lists.
public enum PropertyList {
    /// The longest property list that is read, in bytes: 16 MiB, since it is read as a whole on the loop.
    public static let maximumBytes = 16 << 20

    /// Writes a value. The members of an object keep their order.
    /// - Throws: `parameter_encoding_failed.property_list_encoding_failed` for values that a property list lacks: null,
    ///   decimals, infinities and NaN, texts with U+0000 and, in XML, with other control characters (XML 1.0, section
    ///   2.2), dates outside the years 0 to 9999 in XML, duplicate keys; and for values deeper than
    ///   ``StructuredValue/maximumDepth``.
    public static func encode(_ value: StructuredValue, as format: PropertyListFormat) throws(SessionError) -> [UInt8] {
        do throws(EncodingFailure) {
            try PropertyListRules(format: format).check(value)
        } catch {
            throw .propertyListEncodingFailed(error)
        }
        switch format {
        case .xml: return XMLPropertyListWriter.bytes(of: value)
        case .binary: return BinaryPropertyListWriter.bytes(of: value)
        }
    }

    /// The most values that are read, counted for each reference of a binary list: a list of a hundred bytes may refer
    /// to a million.
    public static let maximumValues = 500_000

    /// Reads a property list of either format. Integers beyond 63 bits become `unsigned`, archive references objects
    /// with the member `CF$UID`, as in Apple's XML.
    /// - Throws: `invalid_property_list` for anything else, for more than ``maximumBytes`` or ``maximumValues``, and
    ///   for values deeper than ``StructuredValue/maximumDepth``.
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
}
