// What receives the body of a request, by its kind.
extension Session {
    /// Makes the receiver of a download or a stream; `nil` if the body is kept with the request.
    func receiver(for request: Request) -> (any ResponseReceiver)? {
        switch request.parameters.kind {
        case .data, .upload: return nil
        case .stream: return ResponseStream(request, memory: streamMemory)
        case .download:
            let download = Download(request.parameters.download ?? DownloadParameters())
            download.partial?.owner = request
            return download
        }
    }
}
