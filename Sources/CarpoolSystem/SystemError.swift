internal import Glibc

/// A failed system call: the operation, its object, and the kernel's reason.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The `errno` of the call.
    public let code: Int32
    /// The call, as in its manual page (`bind`, `openat` ...).
    public let operation: String
    /// The path or address that it was about, if there was one.
    public let subject: String?
    /// A hint or details beyond the code; a sentence without its full stop.
    public let advice: String?

    /// Makes an error from its parts.
    public init(code: Int32, operation: String, subject: String? = nil, advice: String? = nil) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.advice = advice
        Shortage.noteIfShort(code)
    }

    /// The error of the call that has just failed; call it before anything else can change `errno`.
    public static func last(_ operation: String, _ subject: String? = nil) -> SystemError {
        SystemError(code: errno, operation: operation, subject: subject)
    }

    /// The message for the code, as strerror(3) returns it.
    public var reason: String { SystemError.reason(of: code) }

    /// The kernel's words for an `errno`.
    public static func reason(of code: Int32) -> String {
        // For every code of the kernel, glibc returns a constant, so that no lock is needed.
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// The call, its subject, the kernel's reason, and the advice.
    public var description: String {
        let call = subject.map { "\(operation) \($0): \(reason)" } ?? "\(operation): \(reason)"
        return advice.map { "\(call) (\($0))" } ?? call
    }
}
