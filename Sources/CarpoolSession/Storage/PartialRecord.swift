internal import CarpoolSystem

/// What a partial file says of itself, in an extended attribute: which version of a resource it holds, and how many of
/// its bytes are known, with their checksum. It is correct whenever the daemon is killed: bytes are written before they
/// are recorded, and a record is removed before bytes that it counts are.
struct PartialRecord: Equatable, Sendable {
    /// The mark of the version (``mark(_:source:)``).
    var validator: String
    /// How many bytes are known. While the file is written it may have more.
    var bytes: Int64
    /// The checksum of these bytes.
    var checksum: UInt32
    /// When the file was last changed, if it was closed after the last byte: it has no other bytes then.
    var changed: Int64?

    private static let attribute = "user.carpool.part"
    private static let version: Substring = "1"
    /// The longest validator that is recorded: ext4 has room for 4 KiB of attributes.
    private static let maximumValidatorBytes = 1_024
    private static let maximumBytes = maximumValidatorBytes + 128

    /// Reads the record of an open file; `nil` if it has none, or none of this version.
    init?(of descriptor: Int32) {
        guard
            let value = FileAttribute.read(PartialRecord.attribute, of: descriptor, atMost: PartialRecord.maximumBytes),
            let text = String(validating: value, as: UTF8.self)
        else { return nil }
        self.init(text)
    }

    init(validator: String, bytes: Int64, checksum: UInt32, changed: Int64? = nil) {
        (self.validator, self.bytes, self.checksum, self.changed) = (validator, bytes, checksum, changed)
    }

    /// Reads the text of a record.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == PartialRecord.version, let bytes = Int64(parts[1]), bytes >= 0,
            let checksum = UInt32(parts[2], radix: 16)
        else { return nil }
        self.init(validator: String(parts[4]), bytes: bytes, checksum: checksum, changed: Int64(parts[3]))
    }

    /// The mark of a version: its validator, and after a tab the hash of the resource that it is of, if that is known.
    static func mark(_ validator: String, source: String?) -> String {
        source.map { "\(validator)\t\($0)" } ?? validator
    }

    /// Whether it holds the version with this mark. One without a resource may be of any.
    func holds(_ mark: String) -> Bool {
        let own = validator.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        let other = mark.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        return own.count == other.count ? own == other : own.first == other.first
    }

    /// The record as text: its version, the bytes, the checksum, the time of the last change or `-`, the validator.
    var text: String {
        let changed = changed.map { String($0) } ?? "-"
        return "\(PartialRecord.version) \(bytes) \(String(checksum, radix: 16)) \(changed) \(validator)"
    }

    /// Writes it to an open file. Returns false if its file system has no room for it.
    func write(to descriptor: Int32) -> Bool {
        guard validator.utf8.count <= PartialRecord.maximumValidatorBytes else { return false }
        return FileAttribute.write(PartialRecord.attribute, Array(text.utf8), of: descriptor)
    }

    /// Removes the record of an open file.
    static func remove(from descriptor: Int32) { FileAttribute.remove(attribute, of: descriptor) }
}
