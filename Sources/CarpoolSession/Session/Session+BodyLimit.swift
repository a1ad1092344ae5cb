internal import CarpoolHTTP

// The limit of a response's body, `max_body_bytes`.
extension Session {
    /// Fails a response that announces a longer body than its request accepts, without waiting for the body.
    func checkBodyLength(of head: ResponseHead, for request: Request) {
        // The bytes that a download resumes from count towards the limit of its file.
        let resumed = Int(clamping: request.download?.resumedAt ?? 0)
        request.hopBytes = resumed
        let limit = request.parameters.options.maximumBodyBytes.value
        guard limit < .max, head.status != 204, head.status != 304, request.transfer?.request.method != .head,
            // A length beside Transfer-Encoding does not count (RFC 9112, section 6.3).
            !head.fields.has("content-encoding"), !head.fields.has("transfer-encoding"),
            let length = head.fields.first("content-length").flatMap({ Int($0) }), length > 0,
            length > limit &- resumed
        else { return }
        request.failToStoreBody(tooLarge(request, limit, size: resumed.addingReportingOverflow(length).partialValue))
    }

    /// Fails a body that is longer than its request accepts.
    func checkBodyLength(adding count: Int, to request: Request) throws(SessionError) {
        let limit = request.parameters.options.maximumBodyBytes.value
        guard count > limit &- request.hopBytes else { return }
        throw tooLarge(request, limit, size: nil)
    }

    /// The failure for a body over the limit. The partial file of a download is removed.
    private func tooLarge(_ request: Request, _ limit: Int, size: Int?) -> SessionError {
        request.download?.responseIsTooLarge()
        return SessionError(
            "response_too_large", "the response's body has more than \(limit) bytes",
            hint: "raise max_body_bytes (--max-filesize)",
            details: [.init("limit_bytes", .integer(limit))]
                + [size.map { .init("size_bytes", .integer($0)) }].compactMap(\.self))
    }
}
