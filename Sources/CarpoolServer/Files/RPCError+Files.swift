internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

// Refusals of files that a call names.
extension RPCError {
    /// The daemon or the machine is short of a resource, as this `errno` says.
    static func shortage(_ code: Int32 = Shortage.lastCode) -> RPCError {
        .resourceUnavailable(
            errno: Int(code), explanation: Shortage.explanation(of: code), remedy: Shortage.remedy(for: code))
    }

    /// A file that was not opened or read, for this `errno`: a shortage says nothing about the file.
    static func cannotOpen(path: String, code: Int32, reason: String) -> RPCError {
        Shortage.noteIfShort(code) ? .shortage(code) : .cannotOpen(path: path, errno: Int(code), reason: reason)
    }

    /// A path that was not opened.
    static func cannotOpen(_ failure: RegularFile.Failure, path: String) -> RPCError {
        var reason = failure.reason.reason
        if case .notRegular(let error) = failure, error.code == EINVAL { reason = "not a regular file" }
        var error = RPCError.cannotOpen(path: path, code: failure.reason.code, reason: reason)
        if case .ofThisProcess = failure {
            error.hint =
                "below /proc and /dev/fd the path means the daemon's own open files: pass a descriptor with the call (\"fd\"), or name the file itself"
        }
        if case .notRegular(let reason) = failure, reason.code == EISDIR {
            error.hint = "Name a file. Only ca_path of trust takes a directory (--capath)."
        }
        return error
    }

    /// A path that was not opened: a defect, since every parameter with a path is opened before it is read.
    static func notOpened(_ path: String) -> RPCError { .internalError("the daemon did not open \(path)") }

    /// Too many operations on files wait.
    static func filesBusy(_ error: WorkerError) -> RPCError {
        let milliseconds = 1_000
        return RPCError(.rateLimited, error.description).with("retry_after_ms", .integer(milliseconds))
    }

    /// The files of a call were not opened within its time.
    /// - Parameter parameter: the parameter that raises the limit.
    static func filesLate(milliseconds: Int, parameter: StaticString) -> RPCError {
        .resourceUnavailable(
            errno: Int(ETIMEDOUT), explanation: "the files of the call were not open within \(milliseconds) ms",
            remedy: "check the file system of these files, or raise \(parameter)")
    }

    /// A file without usable authorities.
    static func untrusted(_ failure: TrustStore.Failure, path: String, at place: String) -> RPCError {
        let expected = "a PEM file with certificates, of at most \(TrustStore.maximumBytes) bytes"
        return switch failure {
        case .cannotOpen(let failure): .cannotOpen(failure, path: path)
        case .cannotRead(let error) where error.code != EFBIG:
            .cannotOpen(path: path, code: error.code, reason: error.reason)
        case .cannotRead:
            .invalidParams(path: place, message: "the file grew while it was read", expected: expected)
        case .tooLarge(let bytes):
            .invalidParams(path: place, message: "the file has \(bytes) bytes", expected: expected)
        case .noCertificate:
            .invalidParams(path: place, message: "holds no certificate in PEM", expected: expected)
        case .badCertificate(let number):
            .invalidParams(path: place, message: "certificate \(number) cannot be read", expected: expected)
        }
    }
}
