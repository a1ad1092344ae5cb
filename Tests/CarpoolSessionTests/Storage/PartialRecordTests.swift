@testable import CarpoolSession
import CarpoolSystem
import Glibc
import Testing

/// What a partial file says of itself, and what is read from it.
struct PartialRecordTests {
    private let folder = DownloadFolder()
    private let store = FileStore(work: InlineWork(), scheduler: ManualScheduler())
    private var path: String { folder(".f.r_1.carpool-part") }

    private func append(_ text: String, to file: PartialFile) {
        Array(text.utf8).withUnsafeBytes { file.writer.append($0) }
        file.writer.perform({ _ in }, then: { _ in })
    }

    /// A file that a download has begun, with these bytes.
    private func begun(_ validator: String? = "\"v1\"", _ text: String = "abc") -> PartialFile {
        let file = PartialFile(beside: folder("f"), request: "r_1", index: nil, store, .process)
        file.begin(for: folder("f"), DownloadOptions(), isResolved: false, isHashed: false) { #expect($0 == nil) }
        file.hold(validator)
        file.writer.onWritten = { [weak file] in file?.didWrite(to: $1) }
        append(text, to: file)
        return file
    }

    private func record() throws -> PartialRecord? {
        let file = try FileDescriptor.open(path, O_RDONLY)
        return PartialRecord(of: file.raw)
    }

    private func fit(_ validator: String = "\"v1\"", bytes: Int64 = 3, checksum: UInt32? = nil) -> PartialFit {
        PartialFileOpening(PartialClaim(path: path, validator: validator, bytes: bytes, checksum: checksum)).fit
    }

    /// CRC-32, by zlib.
    private let abc: UInt32 = 0x3524_41C2
    private let abcdef: UInt32 = 0x4B8E_39EF

    @Test(
        "A record is read as it was written",
        arguments: [
            PartialRecord(validator: "\"ä b\"", bytes: 0, checksum: 0),
            PartialRecord(validator: "Sat, 21 Nov 2026 10:00:00 GMT", bytes: .max, checksum: .max, changed: 1),
        ])
    func roundTrip(_ record: PartialRecord) { #expect(PartialRecord(record.text) == record) }

    @Test(
        "Anything else is no record",
        arguments: [
            "", "1", "1 3 0 -", "2 3 0 - \"v1\"", "1 -3 0 - \"v1\"", "1 3 g - \"v1\"", "1 3 100000000 - \"v1\"",
        ])
    func rubbish(_ text: String) { #expect(PartialRecord(text) == nil) }

    @Test("A version is of one resource, unless it is not known of which")
    func marks() {
        func holds(_ own: String?, _ other: String?) -> Bool {
            PartialRecord(validator: PartialRecord.mark("\"v1\"", source: own), bytes: 0, checksum: 0)
                .holds(PartialRecord.mark("\"v1\"", source: other))
        }
        #expect(holds("a", "a"))
        #expect(!holds("a", "b"))
        #expect(holds(nil, "b"))
        #expect(holds("a", nil))
        #expect(!PartialRecord(validator: "\"v2\"", bytes: 0, checksum: 0).holds("\"v1\""))
    }

    @Test("A long file is read a part at a time, so that one file does not occupy a thread for long")
    func longFiles() throws {
        let size: Int64 = 40 << 20
        let file = try FileDescriptor.open(path, O_RDWR | O_CREAT, mode: 0o600)
        #expect(ftruncate(file.raw, off_t(size)) == 0)
        var reading = BodyChecksum.Reading()
        let isWhole = try reading.goOn(to: size, of: file.raw)
        #expect(isWhole)
        let opening = PartialFileOpening(
            PartialClaim(path: path, validator: "\"v1\"", bytes: size, checksum: reading.checksum))
        var parts = 1
        while opening.isUnread, parts < 10 {
            opening.readOn()
            parts += 1
        }
        #expect(parts == 3)
        #expect(opening.fit == .intact)
    }

    @Test("The record counts each written byte, and says whether the file is closed")
    func written() throws {
        let file = begun()
        #expect(try record() == PartialRecord(validator: "\"v1\"", bytes: 3, checksum: abc))
        #expect(file.checksum == abc)
        append("def", to: file)
        #expect(try record() == PartialRecord(validator: "\"v1\"", bytes: 6, checksum: abcdef))
        file.close()
        let closed = try #require(try record())
        #expect(closed.bytes == 6 && closed.changed != nil)
    }

    @Test("Before bytes are removed their record is, and other bytes have their own")
    func truncated() throws {
        let file = begun()
        append("def", to: file)
        file.truncate(to: 3)
        #expect(try record() == nil)
        #expect(file.checksum == abc)
        append("def", to: file)
        #expect(try record()?.checksum == abcdef)
        file.truncate(to: 0)
        file.hold("\"v2\"")
        #expect(try record() == nil)
        append("abc", to: file)
        #expect(try record() == PartialRecord(validator: "\"v2\"", bytes: 3, checksum: abc))
        file.truncate(to: 0)
        file.hold(nil)
        append("abc", to: file)
        #expect(try record() == nil)
    }

    @Test("A file with its name has no record")
    func moved() throws {
        let file = begun()
        file.move(to: folder("f"), DownloadOptions()) { #expect($0 == nil) }
        let moved = try FileDescriptor.open(folder("f"), O_RDONLY)
        #expect(PartialRecord(of: moved.raw) == nil)
        #expect(folder.names == ["f"])
    }

    @Test("A file fits the token of its version, or not", arguments: [true, false])
    func fits(_ isClosed: Bool) throws {
        let file = begun()
        if isClosed {
            file.close()
        } else {
            // As if the daemon was killed: the lock goes with the process.
            let left = try #require(try record())
            file.close()
            let file = try FileDescriptor.open(path, O_RDWR)
            #expect(left.write(to: file.raw))
        }
        #expect(fit("\"v2\"") == .changed)
        #expect(fit(bytes: 4) == .lost)
        #expect(fit(bytes: 2, checksum: 1) == .intact)
        let other = try FileDescriptor.open(path, O_RDWR)
        #expect(pwrite(other.raw, "x", 1, 3) == 1)
        #expect(fit() == (isClosed ? .changed : .intact))
        #expect(folder.text(".f.r_1.carpool-part") == (isClosed ? "abcx" : "abc"))
        #expect(ftruncate(other.raw, 3) == 0)
        #expect(pwrite(other.raw, "x", 1, 0) == 1)
        #expect(fit() == .changed)
    }

    @Test("Without a record the checksum of the token counts")
    func unrecorded() throws {
        begun(nil).close()
        #expect(fit(checksum: abc) == .intact)
        #expect(fit(bytes: 2, checksum: abc) == .changed)
        #expect(fit() == .changed)
        #expect(fit(bytes: 4, checksum: abcdef) == .lost)
    }

    @Test("A validator that is too long is not recorded")
    func tooLong() throws {
        let file = begun(String(repeating: "v", count: 2_000))
        #expect(try record() == nil)
        #expect(file.checksum == abc)
    }
}
