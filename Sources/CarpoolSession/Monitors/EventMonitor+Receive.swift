extension EventMonitor {
    /// Calls the method of the event.
    public func receive(_ event: SessionEvent, of request: Request) { callMethod(of: event, request) }

    /// Calls the method of the event, for a monitor whose ``receive(_:of:)`` does something else first.
    public func callMethod(of event: SessionEvent, _ request: Request) {
        switch event {
        case .didCreateInitialURLRequest: requestDidCreateInitialURLRequest(request)
        case .didFailToCreateURLRequest(let error): self.request(request, didFailToCreateURLRequestWith: error)
        case .didAdaptInitialURLRequest:
            guard let attempt = request.attempts.last, let initial = attempt.initialRequest,
                let adapted = attempt.request
            else { return }
            self.request(request, didAdaptInitialURLRequest: initial, to: adapted)
        case .didFailToAdaptURLRequest(let error): self.request(request, didFailToAdaptURLRequestWith: error)
        case .didCreateUploadable(let upload): self.request(request, didCreateUploadable: upload)
        case .didFailToCreateUploadable(let error): self.request(request, didFailToCreateUploadableWith: error)
        case .didCreateURLRequest: requestDidCreateURLRequest(request)
        case .didCreateTask: requestDidCreateTask(request)
        case .didResume: requestDidResume(request)
        case .didResumeTask: requestDidResumeTask(request)
        case .didSuspend: requestDidSuspend(request)
        case .didSuspendTask: requestDidSuspendTask(request)
        case .didCancel: requestDidCancel(request)
        case .didCancelTask: requestDidCancelTask(request)
        case .didProvideInputStream: requestDidProvideInputStream(request)
        case .didUpload(let progress): self.request(request, didUpload: progress)
        default: receiveLater(event, of: request)
        }
    }

    /// The events from the response on.
    private func receiveLater(_ event: SessionEvent, of request: Request) {
        switch event {
        case .didProgress(let count, let total): self.request(request, didProgressTo: count, total: total)
        case .didCreateDestination(let path): self.request(request, didCreateDestination: path)
        case .didFinishDownloading(let result): self.request(request, didFinishDownloading: result)
        case .didGatherMetrics(let hops): self.request(request, didGatherMetricsOf: hops)
        case .didFailTaskEarly(let error): self.request(request, didFailTaskEarlyWith: error)
        case .didValidate(let name, let index, let error):
            self.request(request, didValidateBy: name, index: index, error: error)
        case .didCompleteTask(let error): self.request(request, didCompleteTaskWith: error)
        case .willRetry(let milliseconds): self.request(request, willRetryAfterMilliseconds: milliseconds)
        case .isRetrying: requestIsRetrying(request)
        case .didFinish: requestDidFinish(request)
        case .didParse(let response): self.request(request, didParse: response)
        case .didParseStream(let parsed): self.request(request, didParseStream: parsed)
        default: receiveTaskEvent(event, of: request)
        }
    }

    /// The events of a task.
    private func receiveTaskEvent(_ event: SessionEvent, of request: Request) {
        switch event {
        case .taskIsWaitingForConnectivity(let path): self.request(request, taskIsWaitingForConnectivity: path)
        case .taskNeedsNewBodyStream: requestTaskNeedsNewBodyStream(request)
        case .taskDidSendBodyData(let count, let progress):
            self.request(request, taskDidSendBodyBytes: count, progress: progress)
        case .taskWillRedirect(let url): self.request(request, taskWillRedirectTo: url)
        case .taskDidReceiveChallenge(let challenge): self.request(request, taskDidReceive: challenge)
        case .taskDidReceiveResponse(let head): self.request(request, taskDidReceive: head)
        case .taskDidReceiveData(let count): self.request(request, taskDidReceiveBytes: count)
        case .taskDidResume(let offset, let total): self.request(request, taskDidResumeAt: offset, total: total)
        case .taskDidWriteData(let count, let completed, let total):
            self.request(request, taskDidWrite: count, completed: completed, total: total)
        case .taskDidFinishDownloading(let path): self.request(request, taskDidFinishDownloadingTo: path)
        case .taskWillCacheResponse(let proposal): self.request(request, taskWillCache: proposal)
        case .taskDidCollectMetrics(let hops): self.request(request, taskDidCollectMetricsOf: hops)
        case .taskDidComplete(let error): self.request(request, taskDidCompleteWith: error)
        default: break
        }
    }
}
