internal import CTLS
internal import CarpoolSystem

/// The part of a connection's TLS in which the client authenticates: what it presents, and what the server says to it.
///
/// Each connection has its own, which lives as long as its TLS context, since the server may ask or refuse after the
/// handshake: in TLS 1.3 it answers when the client has completed the handshake, and in TLS 1.2 it can start another.
final class ClientAuthentication {
    /// What has happened.
    struct State {
        /// What is presented to a server that asks for it; `nil` for nothing.
        var certificate: ClientCertificate?
        /// Why the certificate could not be used, so that there was no handshake.
        var failure: ClientCertificate.Failure?
        /// Whether the server has asked for a certificate.
        var isRequested = false
        /// Whether the answer was that there is none: without a certificate, or if the server accepts none of its kind.
        var hasSentNone = false
        /// The alert with which the server ended the connection (RFC 8446, section 6.2).
        var alert: Int32?

        /// The certificate that was presented; `nil` if none was.
        var presented: ClientCertificate? { isRequested && !hasSentNone ? certificate : nil }
    }

    /// What has happened.
    private(set) var state: State
    /// How many errors of writing may still be delayed. libcurl may write again before it reads.
    private var delaysLeft = 16

    init(_ certificate: ClientCertificate?) { state = State(certificate: certificate) }

    /// Sets up a TLS context before its handshake. Returns false if that fails, for which ``State/failure`` may have
    /// the reason.
    func install(on context: UnsafeMutableRawPointer) -> Bool {
        let settings = OpaquePointer(context)
        let retained = Unmanaged.passRetained(self)
        guard ClientAuthentication.place >= 0,
            SSL_CTX_set_ex_data(settings, ClientAuthentication.place, retained.toOpaque()) == 1
        else {
            retained.release()
            return false
        }
        SSL_CTX_set_cert_cb(settings, certificateIsRequested, nil)
        SSL_CTX_set_client_cert_cb(settings, noCertificateFits)
        SSL_CTX_set_info_callback(settings, connectionChanged)
        guard let certificate = state.certificate else { return true }
        do throws(ClientCertificate.Failure) {
            if let failure = certificate.refusal(at: WallClock.microseconds() / 1_000_000) { throw failure }
            try certificate.use(in: context)
            return true
        } catch {
            state.failure = error
            return false
        }
    }

    /// The place of the object in the data of a TLS context, which retains it; negative if there is none.
    private static let place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, object, _, _, _, _ in
        if let object { Unmanaged<ClientAuthentication>.fromOpaque(object).release() }
    }

    /// The object of a connection.
    static func of(_ connection: OpaquePointer?) -> ClientAuthentication? {
        guard let connection, let object = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), place) else { return nil }
        return Unmanaged<ClientAuthentication>.fromOpaque(object).takeUnretainedValue()
    }

    fileprivate func didReceiveRequest() {
        state.isRequested = true
        state.hasSentNone = false
    }

    fileprivate func didSendNone() { state.hasSentNone = true }

    fileprivate func didReceive(alert: Int32) {
        // close_notify and user_canceled are no errors.
        if alert != SSL_AD_CLOSE_NOTIFY, alert != SSL_AD_USER_CANCELLED { state.alert = alert }
    }

    /// Has errors of writing reported as if the socket were full, until what the server has sent is read.
    ///
    /// A server that refuses the certificate in TLS 1.3 sends an alert and closes, and what is written then fails.
    /// libcurl would end the connection with the alert unread; so it reads first, since the socket is readable.
    fileprivate func delayErrors(of connection: OpaquePointer) {
        guard delaysLeft > 0, let socket = SSL_get_wbio(connection) else { return }
        BIO_set_callback_ex(socket, socketDidReturn)
        // The connection owns both the socket and, by its context, this object.
        let object = Unmanaged.passUnretained(self).toOpaque()
        BIO_set_callback_arg(socket, object.assumingMemoryBound(to: CChar.self))
    }

    /// Nothing more can be read.
    fileprivate func didReadToEnd() { delaysLeft = 0 }

    /// Whether an error of writing is delayed.
    fileprivate func delaysError() -> Bool {
        delaysLeft -= 1
        return delaysLeft >= 0
    }
}

private func certificateIsRequested(_ connection: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    ClientAuthentication.of(connection)?.didReceiveRequest()
    return 1
}

/// Called where there is no certificate, or none that the server accepts.
private func noCertificateFits(
    _ connection: OpaquePointer?, _ certificate: UnsafeMutablePointer<OpaquePointer?>?,
    _ key: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    ClientAuthentication.of(connection)?.didSendNone()
    return 0
}

private func connectionChanged(_ connection: OpaquePointer?, _ change: Int32, _ value: Int32) {
    let isAlert = change & SSL_CB_ALERT != 0 && change & SSL_CB_READ != 0
    guard isAlert || change & SSL_CB_HANDSHAKE_DONE != 0, let connection,
        let authentication = ClientAuthentication.of(connection)
    else { return }
    if isAlert {
        authentication.didReceive(alert: value & 0xFF)
    } else if authentication.state.isRequested {
        authentication.delayErrors(of: connection)
    }
}

private func socketDidReturn(
    _ socket: OpaquePointer?, _ operation: Int32, _ bytes: UnsafePointer<CChar>?, _ count: Int, _ argument: Int32,
    _ number: Int, _ result: Int32, _ processed: UnsafeMutablePointer<Int>?
) -> Int {
    let isRead = operation == BIO_CB_READ | BIO_CB_RETURN
    guard isRead || operation == BIO_CB_WRITE | BIO_CB_RETURN, result <= 0,
        BIO_test_flags(socket, BIO_FLAGS_SHOULD_RETRY) == 0, let object = BIO_get_callback_arg(socket)
    else { return Int(result) }
    let authentication = Unmanaged<ClientAuthentication>.fromOpaque(object).takeUnretainedValue()
    if isRead {
        authentication.didReadToEnd()
    } else if authentication.delaysError() {
        BIO_set_flags(socket, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
    }
    return Int(result)
}
