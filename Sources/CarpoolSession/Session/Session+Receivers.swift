// What receives the body of a request, by its kind.
extension Session {
    /// Makes the receiver of a download or a stream; `nil` if the body is kept with the request.
    /// That of an upload or a data request may go to a descriptor of the client.
    func receiver(for request: Request) -> (any ResponseReceiver)? {
        switch request.parameters.kind {
        case .data, .upload: return request.parameters.output.map { OutputReceiver($0, for: request) }
        case .stream: return ResponseStream(request, memory: streamMemory)
        case .download:
            let download = Download(request.parameters.download ?? DownloadParameters())
            download.partial?.owner = request
            return download
        }
    }

    /// Whether the validators that look at the head alone, and the retry policies, accept a response whose body begins.
    func acceptsBeforeBody(_ request: Request) -> Bool {
        guard let response = request.response, request.error == nil else { return false }
        if statusIsRetried(response.status, request) { return false }
        // One that looks at the content type accepts a response without a body.
        let kept = request.body
        request.body.pass(1)
        defer { request.body = kept }
        var isAccepted = true
        for validator in request.parameters.options.validators.value where validator.needsHeadAlone {
            validator.validate(request) { error in if error != nil { isAccepted = false } }
        }
        return isAccepted
    }
}
