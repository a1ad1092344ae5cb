package import CarpoolSystem
internal import Glibc

/// The open file of a body.
package final class BodyOutput {
    /// How a file is opened.
    package enum Opening: Equatable {
        /// An existing file stays as it was until ``BodyOutput/commit()``; a pipe or a device is written at once.
        case replacing
        /// An existing file is emptied, and written in place.
        case truncating
        /// Bytes are added to an existing file.
        case appending
        /// An existing file is an error.
        case new
        /// Beside an existing file, one with `.1`, `.2` and so on is made.
        case numbered
    }

    /// The path, which has a number if it was opened as ``Opening/numbered``.
    package let path: String
    private let written: Written

    private enum Written {
        case replaced(OutputFile)
        case inPlace(OwnDescriptor)
    }

    private final class OwnDescriptor {
        let descriptor: FileDescriptor

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// The highest number that is tried.
    private static let maximumNumber = 99
    private static let newMode: UInt32 = 0o666

    /// Opens a file for writing. A new one has the mode 0666 without the bits of the umask. EACCES for what another
    /// user has put into a folder that all may write; ETIME for a pipe without a reader within the time limit.
    package init(_ path: String, _ opening: Opening) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT
        switch opening {
        case .replacing: (self.path, written) = (path, .replaced(try OutputFile(path, staysUnnamed: true)))
        case .truncating: (self.path, written) = (path, try BodyOutput.open(path, flags | O_TRUNC))
        case .appending: (self.path, written) = (path, try BodyOutput.open(path, flags | O_APPEND))
        case .new: (self.path, written) = (path, try BodyOutput.open(path, flags | O_EXCL))
        case .numbered: (self.path, written) = try BodyOutput.openNumbered(path, flags | O_EXCL)
        }
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Written {
        .inPlace(OwnDescriptor(try NamedPath.open(path, flags, mode: newMode)))
    }

    private static func openNumbered(_ path: String, _ flags: Int32) throws(SystemError) -> (String, Written) {
        var number = 0
        while true {
            let numbered = number == 0 ? path : "\(path).\(number)"
            do throws(SystemError) {
                return (numbered, try open(numbered, flags))
            } catch {
                guard error.code == EEXIST || error.code == EISDIR, number < maximumNumber else { throw error }
                number += 1
            }
        }
    }

    /// The descriptor, which is open as long as this object.
    package var descriptor: Int32 {
        switch written {
        case .replaced(let file): file.descriptor.raw
        case .inPlace(let own): own.descriptor.raw
        }
    }

    /// Writes all bytes. EPIPE means that there is no reader, if SIGPIPE is ignored, and ETIME that a pipe's reader has
    /// not read within the time limit.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try BlockingOutput(borrowing: descriptor, isNamed: true).write(bytes)
    }

    /// Forgets what was written from an offset on; only a file does.
    package func rewind(to offset: Int64) {
        _ = ftruncate(descriptor, off_t(offset))
        _ = lseek(descriptor, off_t(offset), SEEK_SET)
    }

    /// Replaces the file by what was written, if it was opened so. Without this call it stays as it was.
    package func commit() throws(SystemError) {
        if case .replaced(let file) = written { try file.commit() }
    }
}
