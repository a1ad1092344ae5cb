internal import CarpoolSystem

/// Keeps the ``PartialRecord`` of a file up to date while it is written. Only the jobs of its queue touch it.
final class PartialRecordKeeper {
    /// The checksum of all bytes of the file.
    private(set) var checksum: UInt32
    /// The version that is written; `nil` if it cannot be resumed.
    private var validator: String?
    /// How many bytes the record in the file counts; `nil` without a record.
    private var recordedBytes: Int64?
    /// Whether the record in the file says that the file is closed.
    private var isSealed = false

    /// For a new, empty file.
    init() { checksum = 0 }

    /// For a file that may have a record.
    init(validator: String, bytes: Int64, checksum: UInt32) {
        self.validator = validator
        self.checksum = checksum
        (recordedBytes, isSealed) = (bytes, true)
    }

    /// The bytes that follow are of this version.
    func hold(_ validator: String?, in descriptor: Int32) {
        guard validator != self.validator else { return }
        erase(from: descriptor)
        self.validator = validator
    }

    /// Prepares the record for more bytes.
    func willWrite(to descriptor: Int32, at end: Int64) {
        if isSealed { record(end, in: descriptor) }
    }

    /// Counts written bytes.
    func add(_ bytes: UnsafeRawBufferPointer) { checksum = BodyChecksum.adding(bytes, to: checksum) }

    /// Records the bytes that were written.
    func didWrite(to descriptor: Int32, end: Int64) {
        if end > 0, end != recordedBytes { record(end, in: descriptor) }
    }

    /// Removes a record that counts bytes which are about to be removed.
    func willTruncate(_ descriptor: Int32, to count: Int64) {
        if let recordedBytes, recordedBytes > count { erase(from: descriptor) }
    }

    /// Computes the checksum of what is left.
    func didTruncate(_ descriptor: Int32, to count: Int64) throws(SystemError) {
        var reading = BodyChecksum.Reading()
        checksum = try reading.goOn(to: count, of: descriptor) ? reading.checksum : 0
    }

    /// Records that the file is closed: only these bytes are in it.
    func seal(_ descriptor: Int32, end: Int64) {
        guard validator != nil, end > 0, let status = try? FileStatus(of: descriptor) else { return }
        record(end, in: descriptor, changed: status.changed)
    }

    /// Removes the record.
    func erase(from descriptor: Int32) {
        guard recordedBytes != nil else { return }
        PartialRecord.remove(from: descriptor)
        (recordedBytes, isSealed) = (nil, false)
    }

    private func record(_ end: Int64, in descriptor: Int32, changed: Int64? = nil) {
        guard let validator else { return }
        let record = PartialRecord(validator: validator, bytes: end, checksum: checksum, changed: changed)
        if record.write(to: descriptor) {
            (recordedBytes, isSealed) = (end, changed != nil)
        } else if isSealed {
            // It says that no other bytes are in the file.
            erase(from: descriptor)
        }
    }
}
