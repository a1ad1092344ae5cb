/// `--max-filesize`: only the body that is wanted counts, and not that of a redirect.
extension CurlTransfer {
    private var limit: Int64? { plan.operation.options.response.maximumBytes }

    /// How many more bytes of the body may come.
    var bytesLeft: Int { limit.map { Int(clamping: max(0, $0 - pace.bytes)) } ?? .max }

    /// The failure of a response whose length is more than allowed.
    func tooLarge(_ head: CurlResponseHead) -> CurlError? {
        guard let limit, head.value("Transfer-Encoding") == nil, head.status != 204, head.status != 304,
            let length = head.contentLength, length > limit
        else { return nil }
        return CurlError(CurlExitCode.tooLargeFile)
    }

    /// Takes bytes of the body, as many as are allowed.
    func take(body bytes: [UInt8], of length: Int64? = nil) throws(CurlError) {
        guard use == .write else { return pace.take(bytes.count) }
        let allowed = bytes.count > bytesLeft ? Array(bytes[..<bytesLeft]) : bytes
        try sink.write(body: allowed, of: length)
        pace.take(allowed.count)
        if allowed.count < bytes.count { throw exceeded }
    }

    /// Fails if there are bytes behind those that are allowed.
    func expectEnd(of call: CurlCall) throws(CurlError) {
        guard sink.drop(from: call.output) == 0 else { throw exceeded }
        hasBodyEnded = true
    }

    private var exceeded: CurlError {
        CurlError(
            exitCode: CurlExitCode.tooLargeFile,
            message: "Exceeded the maximum allowed file size (\(limit ?? 0)) with \(pace.bytes) bytes")
    }
}
