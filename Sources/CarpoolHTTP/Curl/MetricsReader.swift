internal import CCurl
internal import CarpoolSystem

/// Reads what a transfer cost. All of it is asked for once, at its end and before its handle is removed: afterwards older libcurls may
/// answer with numbers of another transfer.
enum MetricsReader {
    static func read(_ transfer: CurlTransfer) -> TransferMetrics {
        var metrics = TransferMetrics()
        let deadlines = transfer.deadlines
        let now = MonotonicTime.read()
        metrics.fetchStart = transfer.fetchStart
        metrics.endMicroseconds = now.microseconds(since: deadlines.start)
        metrics.queuedMicroseconds = (deadlines.admission ?? now).microseconds(since: deadlines.start)
        metrics.isReused = transfer.isReused
        metrics.decodedBodyBytes = transfer.decodedBytes
        guard case .running(let easy) = transfer.phase else { return metrics }
        readTimes(easy, transfer, &metrics)
        metrics.requestHeaderBytes = Int64(easy.long(CURLINFO_REQUEST_SIZE))
        metrics.responseHeaderBytes = Int64(easy.long(CURLINFO_HEADER_SIZE))
        metrics.responseBodyBytes = easy.offset(CURLINFO_SIZE_DOWNLOAD_T)
        // libcurl would count the frames of chunks too.
        let isChunked = transfer.request.body.lengthBytes == nil
        metrics.requestBodyBytes = isChunked ? transfer.bodyPosition : easy.offset(CURLINFO_SIZE_UPLOAD_T)
        if transfer.headReader.isComplete { metrics.httpVersion = transfer.headReader.version }
        if let connection = transfer.connection { readConnection(connection, &metrics) }
        return metrics
    }

    /// libcurl counts from the moment in which it got the transfer; 0 means that the step did not happen.
    private static func readTimes(_ easy: EasyHandle, _ transfer: CurlTransfer, _ metrics: inout TransferMetrics) {
        let offset = metrics.queuedMicroseconds
        func time(_ info: CURLINFO) -> Int? {
            let value = easy.offset(info)
            return value > 0 ? offset &+ Int(value) : nil
        }
        if !transfer.isReused {
            metrics.resolvedMicroseconds = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connectedMicroseconds = time(CURLINFO_CONNECT_TIME_T)
            metrics.securedMicroseconds = time(CURLINFO_APPCONNECT_TIME_T)
        }
        if transfer.sendCount > 0 { metrics.requestMicroseconds = time(CURLINFO_PRETRANSFER_TIME_T) }
        if transfer.headReader.byteCount > 0 { metrics.firstByteMicroseconds = time(CURLINFO_STARTTRANSFER_TIME_T) }
    }

    private static func readConnection(_ connection: OriginConnection, _ metrics: inout TransferMetrics) {
        metrics.connection = connection.id
        if let endpoints = connection.endpoints {
            metrics.remoteAddress = endpoints.remoteAddress
            metrics.remotePort = endpoints.remotePort
            metrics.localAddress = endpoints.localAddress
            metrics.localPort = endpoints.localPort
        }
        metrics.tlsVersion = connection.negotiated?.tlsVersion
        metrics.tlsCipher = connection.negotiated?.tlsCipher
    }
}
