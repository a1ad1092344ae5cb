internal import CCurl

/// Repeats CONNECT over another connection. libcurl does so itself if the proxy announces that it closes the connection
/// after its challenge, but not if the proxy just closes it.
extension CurlTransport {
    /// Sends CONNECT with the credential over another connection, if the proxy has asked for it and was not there any
    /// more to get it. The handle is kept: it knows the proxy's challenge. Returns false if there is no reason for it.
    func repeatTunnel(of transfer: CurlTransfer, after result: CURLcode) -> Bool {
        guard case .running(let easy) = transfer.phase, let pool = transfer.pool,
            let scheme = transfer.tunnelScheme(easy, after: result)
        else { return false }
        pool.multi.remove(transfer, easy)
        discardConnectAttempts(of: transfer)
        transfer.hasRepeatedTunnel = true
        transfer.tunnelAnswers = TunnelAnswers()
        transfer.handshakes = 0
        easy.set(CURLOPT_PROXYAUTH, scheme)
        if let reason = pool.multi.add(transfer, easy) {
            // Removed already, so that it must not be removed once more.
            easy.close()
            finishSlot(transfer)
            transfer.phase = .new
            finish(transfer, error: TransportError(.unknown, reason))
        }
        return true
    }
}

extension CurlTransfer {
    /// libcurl's number of the scheme with which CONNECT can be repeated; `nil` if it must not be.
    fileprivate func tunnelScheme(_ easy: EasyHandle, after result: CURLcode) -> Int? {
        guard result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR || result == CURLE_GOT_NOTHING,
            failure == nil, sendCount == 0, !hasRepeatedTunnel, let outcome = proxyOutcome(easy), outcome.isAnswered,
            !outcome.hasSeenCredential, !ProxyOutcome.isRefusal(easy.errorText)
        else { return nil }
        let offered = easy.long(CURLINFO_PROXYAUTH_AVAIL)
        let usable = outcome.proxy.schemes.map(\.curlNumber).filter { offered & $0 != 0 }
        // As libcurl prefers them.
        return usable.contains(CCurl_auth_digest) ? CCurl_auth_digest : usable.first
    }
}
