internal import CarpoolCaller
internal import CarpoolSystem
internal import Glibc

/// The users and passwords of a command line: those that have no password are completed, and other users of the machine
/// do not see them.
struct CurlSecrets {
    private let console: CurlConsole
    /// The most bytes that curl reads of a password.
    private static let maximumBytes = 2_047

    init(_ console: CurlConsole) { self.console = console }

    /// Hides the secrets in the list of processes, as curl does. The real curl would not find them any more.
    func hide(_ invocation: CurlInvocation) {
        for operation in invocation.operations {
            hide(operation.security.user)
            hide(operation.security.bearer)
            hide(operation.security.certificate)
            hide(operation.security.password)
            hide(operation.connection.proxyUser)
        }
    }

    private func hide(_ secret: String?) {
        if let secret, !secret.isEmpty { VisibleArguments.hide(secret) }
    }

    /// Asks for the passwords that `-u` and `--proxy-user` lack.
    func complete(_ invocation: CurlInvocation) throws(CurlError) -> CurlInvocation {
        var invocation = invocation
        let count = invocation.operations.count
        for index in invocation.operations.indices {
            let number = count == 1 ? nil : index + 1
            let security = invocation.operations[index].security
            if let user = security.user, security.bearer == nil, CurlSecrets.lacksPassword(user) {
                invocation.operations[index].security.user = try ask("host", user, number)
            }
            if let user = invocation.operations[index].connection.proxyUser, CurlSecrets.lacksPassword(user) {
                invocation.operations[index].connection.proxyUser = try ask("proxy", user, number)
            }
        }
        return invocation
    }

    /// Whether a text of `-u` is a user alone.
    static func lacksPassword(_ user: String) -> Bool { !user.utf8.contains(UInt8(ascii: ":")) && !user.hasPrefix(";") }

    /// curl's question; with the number of a group of options, from 1, if there are several.
    static func question(_ kind: String, _ user: String, _ number: Int?) -> String {
        "Enter \(kind) password for user '\(user)'" + (number.map { " on URL #\($0):" } ?? ":")
    }

    private func ask(_ kind: String, _ user: String, _ number: Int?) throws(CurlError) -> String {
        let question = CurlSecrets.question(kind, user, number)
        do throws(Failure) {
            if let password = try PasswordPrompt.ask(question, for: "--user") { return "\(user):\(password)" }
        } catch {
            throw CurlError(
                exitCode: CurlExitCode.failedInitialization, message: error.message ?? "no password", form: .plain)
        }
        // Without a terminal the answer is in standard input.
        console.write(question)
        var bytes = [UInt8](repeating: 0, count: CurlSecrets.maximumBytes)
        let result = bytes.withUnsafeMutableBytes { Bytes.read(STDIN_FILENO, into: $0) }
        console.write("\n")
        guard case .bytes(let count) = result else { return "\(user):" }
        return "\(user):" + bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }.text
    }
}
