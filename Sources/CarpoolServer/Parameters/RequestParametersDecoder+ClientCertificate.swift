internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// The certificate with which a client authenticates. A thread of the worker has read it.
extension RequestParametersDecoder {
    /// The certificate; `nil` for none. Its value has passed the schema.
    func clientCertificate(_ json: JSON, path: String) throws(RPCError) -> ClientCertificate? {
        guard json.kind == .object else { return nil }
        for names in [["key_file", "key_pem", "key_fd"], ["password", "password_file"]] as [[StaticString]] {
            let given = names.filter { json[$0] != nil }
            guard given.count < 2 else {
                throw .invalidParams(
                    path: "\(path).\(given[1])", message: "\(given[0]) is set too", expected: "only one of the two")
            }
        }
        for name in ["file", "key_file", "password_file"] as [StaticString] {
            guard let file = json[name]?.string else { continue }
            try files.access(or: client.pathAccess).check(file)
            try AbsolutePath.check(file, at: "\(path).\(name)")
        }
        if let text = json["base64"] { _ = try Base64Text.decode(text, at: "\(path).base64") }
        switch files.clientCertificate {
        case .success(let read)?: return read.certificate
        case .failure(let failure)?: throw .uncertified(failure, at: path)
        case nil: throw .notOpened(path)
        }
    }
}

extension RPCError {
    /// A client certificate that was not read.
    static func uncertified(_ failure: ClientCertificateNames.Failure, at place: String) -> RPCError {
        switch failure {
        case .unread(let failure): return .unread(failure, at: place)
        case .refused(let failure):
            var error = RPCError(kind(of: failure), "the client certificate: \(failure.message)").with("path", place)
            error.hint = failure.hint
            return error
        }
    }

    private static func kind(of failure: ClientCertificate.Failure) -> RPCErrorKind {
        switch failure {
        case .passwordMissing, .passwordWrong: .certificatePassword
        case .keyMismatch: .certificateKeyMismatch
        case .unsupportedKey: .certificateUnsupportedKey
        case .unsupported: .certificateUnsupported
        // Dates are checked when a certificate is used, not when it is read.
        case .unreadable, .expired, .notYetValid: .certificateUnreadable
        }
    }
}
