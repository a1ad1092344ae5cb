internal import CarpoolHTTP

// A request that is a download.
extension Request {
    /// The download, if the request is one.
    public var download: Download? { receiver as? Download }

    /// The resume token of a download that is in progress or has failed (DL-11, DL-12).
    public var resumeData: String? { download?.resumeData(for: self) }

    /// Removes the partial file of a download that has failed; it is gone when the completion is called.
    public func discardPartialFile(completion: @escaping () -> Void = {}) {
        guard isFinished, let download else {
            download?.keepsPartialFile = false
            return completion()
        }
        download.discard(of: self, completion: completion)
    }

    /// The resource of the response that is being received, with this validator.
    func entitySource(_ validator: EntityValidator) -> EntitySource? {
        guard let url = transfer?.request.url else { return nil }
        let isRedirected = attempts.last?.request?.url.withoutFragment != url.withoutFragment
        let requested = try? HTTPURL(Redaction.withoutUserInformation(parameters.url))
        let isImplied = !isRedirected && requested?.withoutFragment == url.withoutFragment
        return EntitySource(url, isRedirected: isRedirected, isImplied: isImplied, validator)
    }
}
