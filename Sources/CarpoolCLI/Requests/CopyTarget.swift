internal import CarpoolCaller
internal import CarpoolExchange
internal import CarpoolSystem
internal import Glibc

/// The output of a body that is copied while it arrives: standard output, or the file of `-o`, which is opened when
/// there is something to write and replaced at the end.
final class CopyTarget {
    private let path: String?
    private var file: BodyOutput?

    /// - Parameter path: the file; `nil` for standard output.
    init(_ path: String?) { self.path = path }

    /// Whether it is a file.
    var isFile: Bool { path != nil }

    /// The name in messages.
    var name: String { path ?? "standard output" }

    /// The descriptor, if it is open.
    var descriptor: Int32? { path == nil ? STDOUT_FILENO : file?.descriptor }

    /// Opens the file, and returns the descriptor.
    func open() throws(Failure) -> Int32 {
        if let descriptor { return descriptor }
        guard let path else { return STDOUT_FILENO }
        do throws(SystemError) {
            let opened = try BodyOutput(path, .replacing)
            file = opened
            return opened.descriptor
        } catch {
            throw Failure(
                error.exitCode(or: .transferFailed), "cannot write to \(path): \(error.reason)", hint: error.advice)
        }
    }

    /// Replaces the file with what was written. Without this call the file is as it was.
    func commit() throws(Failure) {
        do throws(SystemError) { try file?.commit() } catch {
            throw Failure(.transferFailed, "cannot write to \(name): \(error.reason)")
        }
    }
}
