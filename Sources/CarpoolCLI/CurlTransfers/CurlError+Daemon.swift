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
        self.init(exitCode: code, message: failure.message ?? CurlErrorText.of(code))
    }
}
