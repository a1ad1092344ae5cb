internal import CCurl
internal import CarpoolSystem

extension CurlTransfer {
    /// Reads what the transfer cost. Called once, at its end and before its handle is removed: afterwards older
    /// versions of libcurl may answer with numbers of another transfer.
    func readMetrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        let now = MonotonicTime.read()
        metrics.fetchStart = fetchStart
        metrics.endMicroseconds = now.microseconds(since: deadlines.start)
        metrics.queuedMicroseconds = (deadlines.admission ?? now).microseconds(since: deadlines.start)
        metrics.isReused = isReused
        metrics.proxy = request.partition.proxy
        metrics.newConnectionReason = isReused ? nil : newConnectionReason
        metrics.decodedBodyBytes = decodedBytes
        guard case .running(let easy) = phase else { return metrics }
        readTimes(easy, &metrics)
        metrics.requestHeaderBytes = Int64(easy.long(CURLINFO_REQUEST_SIZE))
        metrics.responseHeaderBytes = Int64(easy.long(CURLINFO_HEADER_SIZE))
        metrics.responseBodyBytes = easy.offset(CURLINFO_SIZE_DOWNLOAD_T)
        // libcurl would count the frames of chunks too.
        let isChunked = request.body.lengthBytes == nil
        metrics.requestBodyBytes = isChunked ? bodyPosition : easy.offset(CURLINFO_SIZE_UPLOAD_T)
        if headReader.isComplete { metrics.httpVersion = headReader.version }
        if let connection {
            readConnection(connection, &metrics)
        } else if request.usesTLS || request.partition.proxy != nil {
            readFailedConnection(easy, &metrics)
        }
        return metrics
    }

    /// The results of the verification of the certificates, of the connection that was made for it last.
    func verificationResults(_ easy: EasyHandle) -> VerificationResults {
        var results = easy.verification
        if let evaluation = evaluations.latest { results.server = evaluation.result }
        return results
    }

    /// Reads what is known of a connection that was not made.
    private func readFailedConnection(_ easy: EasyHandle, _ metrics: inout TransferMetrics) {
        metrics.verification = verificationResults(easy)
        // A handshake that fails behind the verification has no result.
        if evaluations.latest?.isAccepted == true { metrics.verification.server = easy.verification.server }
        if request.needsCertificates { metrics.certificates = easy.certificates }
        let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
        if status > 0 { metrics.connectStatus = status }
        request.heads?.record(ProxyTunnel(status: status, heads: tunnelAnswers.bytes), of: nil)
    }

    /// libcurl counts from the moment in which it got the transfer; 0 means that the step did not happen.
    private func readTimes(_ easy: EasyHandle, _ metrics: inout TransferMetrics) {
        let offset = metrics.queuedMicroseconds
        func time(_ info: CURLINFO) -> Int? {
            let value = easy.offset(info)
            return value > 0 ? offset &+ Int(value) : nil
        }
        if !isReused {
            metrics.resolvedMicroseconds = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connectedMicroseconds = time(CURLINFO_CONNECT_TIME_T)
            metrics.securedMicroseconds = time(CURLINFO_APPCONNECT_TIME_T)
        }
        if sendCount > 0 { metrics.requestMicroseconds = time(CURLINFO_PRETRANSFER_TIME_T) }
        if headReader.byteCount > 0 { metrics.firstByteMicroseconds = time(CURLINFO_STARTTRANSFER_TIME_T) }
    }

    private func readConnection(_ connection: OriginConnection, _ metrics: inout TransferMetrics) {
        metrics.connection = connection.id
        if let endpoints = connection.endpoints {
            metrics.remoteAddress = endpoints.remoteAddress
            metrics.remotePort = endpoints.remotePort
            metrics.localAddress = endpoints.localAddress
            metrics.localPort = endpoints.localPort
        }
        // Not that of a proxy.
        if request.url.origin.scheme == "https" {
            metrics.tlsVersion = connection.negotiated?.tlsVersion
            metrics.tlsCipher = connection.negotiated?.tlsCipher
        }
        metrics.verification = connection.negotiated?.verification ?? VerificationResults()
        if request.needsCertificates { metrics.certificates = connection.negotiated?.certificates }
        metrics.connectStatus = connection.negotiated?.tunnel?.status
        metrics.clientCertificate = connection.negotiated?.authentication?.state.presented
        metrics.isServerVerified = !request.partition.trust.acceptsAnyServer
    }
}
