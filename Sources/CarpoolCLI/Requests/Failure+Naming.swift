internal import CarpoolCaller
internal import CarpoolSystem

extension Failure {
    /// The failure with the option before a file that the daemon could not open, and the file as it was typed.
    func namingFile(of request: RequestArguments) -> Failure {
        let prefix = "cannot open "
        guard refusal == "file.cannot_open", let message, message.hasPrefix(prefix) else { return self }
        for (option, path) in request.trust.files + request.connection.files {
            let start = prefix + SocketLocation.absolute(path) + ":"
            guard message.hasPrefix(start) else { continue }
            return Failure(code, "\(option): \(prefix)\(path):\(message.dropFirst(start.count))", hint: hint)
        }
        return self
    }

    /// The failure without the option of authorities that the environment names; the hint has the variable.
    private func namingVariable(of request: RequestArguments) -> Failure {
        guard request.trust.authorities == nil, request.trust.directories.isEmpty, let message else { return self }
        for option in ["--cacert: ", "--capath: "] where message.hasPrefix(option) {
            return Failure(code, "certificate authorities: \(message.dropFirst(option.utf8.count))", hint: hint)
        }
        return self
    }

    /// Runs a call; its failure names the option and not the parameter.
    static func naming<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        do throws(Failure) { return try body() } catch { throw error.namingOption }
    }

    /// Runs a request; its failure names the option and not the parameter or the file.
    static func naming<Value>(
        of request: RequestArguments, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) { return try body() } catch {
            throw error.namingOption.namingFile(of: request).namingVariable(of: request)
        }
    }
}
