internal import CarpoolCaller

extension CurlError {
    /// A call that the daemon has refused or not answered, in curl's exit codes.
    init(daemon failure: Failure) {
        let name = failure.refusal ?? ""
        let code: Int32
        if name.hasPrefix("client_certificate.") {
            code = CurlExitCode.clientCertificate
        } else if name.isEmpty {
            code = CurlExitCode.receiveError
        } else {
            code = CurlExitCode.failedInitialization
        }
        var message = failure.namingOption.message ?? CurlErrorText.of(code)
        // A wrong value of an option has no need of the name of the daemon's error.
        if let end = message.firstRange(of: " (invalid_params, code ") { message = String(message[..<end.lowerBound]) }
        self.init(exitCode: code, message: message)
    }
}
