internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

// Where the file goes, and how it gets there.
extension Download {
    func decideDestination(_ head: ResponseHead, _ request: Request) {
        if let target { return open(target, options, request) }
        switch parameters.destination {
        case .spool: decided(.spool, request)
        case .file(let path): decided(.file(path, options), request)
        case .directory(let path):
            let name = SuggestedName(head, url: request.url).text
            decided(.file("\(path)/\(name)", options), request)
        case .ask(let decider):
            isWaiting = true
            let question = request.ask()
            let name = SuggestedName(head, url: request.url).text
            decider.destination(of: request, for: head, suggestedName: name) { [self] answer in
                guard request.takes(answerTo: question), isWaiting else { return }
                isWaiting = false
                switch answer {
                case .success(let destination): decided(destination, request)
                case .failure(let error): request.fail(error)
                }
                request.session.goOn(request)
            }
        }
    }

    private func decided(_ destination: DecidedDestination, _ request: Request) {
        switch destination {
        case .spool:
            // What is there already lies elsewhere, and the rest alone is of no use.
            if let partial {
                let error = SystemError(code: EXDEV, operation: "rename", subject: partial.place)
                return refuse(
                    .downloadedFileMoveFailed(source: partial.place, destination: "the spool", error), request)
            }
            sink = .spool
            tellProgress(of: request, 0)
        case .file(let path, let options):
            self.options = options
            open(path, options, request)
        }
    }

    /// Opens the partial file beside the destination, if there is none yet.
    private func open(_ path: String, _ options: DownloadOptions, _ request: Request) {
        target = path
        do throws(SystemError) {
            if options.createsIntermediateDirectories { try Download.makeDirectories(for: path, options) }
            if partial == nil {
                partial = try PartialFile(beside: path, request: request.id, index: parameters.index)
            }
            guard let file = partial else { return }
            sink = .partial(file)
            tellProgress(of: request, file.count)
        } catch {
            return refuse(.downloadedFileMoveFailed(source: nil, destination: path, error), request)
        }
        if request.parameters.hashesBody { hashWhatIsThere(request) }
    }

    private func refuse(_ failure: SessionError, _ request: Request) {
        request.fail(failure)
        request.session.eventMonitor.request(request, didFinishDownloading: .failure(failure))
    }

    private static func makeDirectories(for path: String, _ options: DownloadOptions) throws(SystemError) {
        for end in path.indices where path[end] == "/" && end != path.startIndex {
            let directory = String(path[..<end])
            let mode = 0o777 & ~options.umask
            guard mkdir(directory, mode) != 0, errno != EEXIST else { continue }
            // Some file systems ask for the right to write before they look whether there is anything to be made.
            let failure = SystemError.last("mkdir", directory)
            var status = stat()
            guard stat(directory, &status) == 0 else { throw failure }
        }
    }

    /// Gives the file its name, and tells so.
    func move(_ request: Request) throws(SessionError) {
        let monitor = request.session.eventMonitor
        guard case .partial(let partial) = sink, let target else {
            guard case .spool = sink, let path = request.body.path else { return }
            isMoved = true
            monitor.request(request, didCreateDestination: path)
            return monitor.request(request, didFinishDownloading: .success(path))
        }
        monitor.request(request, didCreateDestination: target)
        // A monitor may have cancelled it.
        guard !request.isOver else { return }
        do throws(SystemError) {
            try partial.move(to: target, options)
            isMoved = true
        } catch {
            let failure = SessionError.downloadedFileMoveFailed(
                source: partial.place, destination: target, error)
            monitor.request(request, didFinishDownloading: .failure(failure))
            throw failure
        }
        monitor.request(request, didFinishDownloading: .success(target))
    }
}
