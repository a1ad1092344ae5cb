internal import CarpoolSystem
internal import Glibc

/// A short content that a call holds, or names by a path or a descriptor.
enum NamedContent: Sendable {
    /// The file at a path, and the parameter that it stands in.
    case file(NamedPath)
    /// The bytes themselves.
    case bytes([UInt8])
    /// A passed descriptor, by its place in the call.
    case descriptor(Int)

    /// Why a content is not read.
    enum Failure: Error, Sendable {
        /// A file cannot be opened.
        case cannotOpen(RegularFile.Failure, path: String)
        /// A file or a descriptor cannot be read.
        case cannotRead(SystemError, path: String)
        /// A descriptor is none of the call's, or not that of a regular file.
        case noFile(index: Int)
        /// It has more bytes than it may have.
        case tooLarge(bytes: Int64)
    }

    /// Reads the content. May block: for a thread of a worker.
    /// - Parameters:
    ///   - most: the most bytes.
    ///   - passed: the descriptors that came with the call.
    ///   - readFile: reads a file; the last parameter is the most bytes.
    func content(
        atMost most: Int, _ passed: [Int: PassedDescriptor],
        readFile: (NamedPath, Int) throws(Failure) -> [UInt8] = NamedContent.readFile
    ) throws(Failure) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let name): return try readFile(name, most)
        case .descriptor(let index):
            guard case .file(let file, let size, _) = passed[index] else { throw .noFile(index: index) }
            return try NamedContent.readFromStart(file, size, most, "descriptor \(index)")
        }
    }

    /// Reads a file of at most so many bytes.
    static func readFile(_ name: NamedPath, _ most: Int) throws(Failure) -> [UInt8] {
        let file: RegularFile
        do throws(RegularFile.Failure) {
            file = try RegularFile.open(name.path)
        } catch {
            throw .cannotOpen(error, path: name.path)
        }
        guard file.size <= Int64(most) else { throw .tooLarge(bytes: file.size) }
        do throws(SystemError) {
            return try Bytes.readAll(file.descriptor.raw, atMost: most, path: name.path)
        } catch {
            throw .cannotRead(error, path: name.path)
        }
    }

    /// Reads a descriptor without moving its position, which the caller shares.
    private static func readFromStart(
        _ file: WorkerFile, _ size: Int64, _ most: Int, _ name: String
    ) throws(Failure) -> [UInt8] {
        guard size <= Int64(most) else { throw .tooLarge(bytes: size) }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                pread(file.raw, $0.baseAddress.map { $0 + count }, $0.count - count, off_t(count))
            }
            guard read >= 0 else { throw .cannotRead(.last("read", name), path: name) }
            // It is shorter than it was.
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes[..<count])
    }
}
