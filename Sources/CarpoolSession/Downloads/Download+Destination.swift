internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

// The destination of a download: choosing the path, opening the file, moving it, removing it.
extension Download {
    /// Opens the partial file at the destination, which a decider chooses if the parameters do not name it.
    func decideDestination(_ head: ResponseHead, _ request: Request) {
        if let target { return open(target, options, request) }
        switch parameters.destination {
        case .spool: begin(.spool, request)
        case .file(let path): begin(.file(path, options), request)
        case .directory(let path):
            let name = SuggestedName(head, url: request.url).text
            // Characters of it that would stand for bytes do not.
            begin(.file("\(path)/\(SystemPath.text(name.utf8))", options), request)
        case .ask(let decider):
            isWaiting = true
            let generation = request.machine.nextGeneration()
            let name = SuggestedName(head, url: request.url).text
            decider.destination(of: request, for: head, suggestedName: name) { [self] answer in
                guard request.machine.isCurrent(generation), isWaiting else { return }
                isWaiting = false
                switch answer {
                case .success(let destination): begin(destination, request)
                case .failure(let error): request.recordError(error)
                }
                request.session.proceed(request)
            }
        }
    }

    /// Begins to write to the chosen destination.
    private func begin(_ destination: DecidedDestination, _ request: Request) {
        switch destination {
        case .spool:
            // The partial file is in another directory, and the rest alone is of no use.
            if let partial {
                let error = SystemError(code: EXDEV, operation: "rename", subject: partial.currentPath)
                return fail(
                    .downloadedFileMoveFailed(source: partial.currentPath, destination: "the spool", error), request)
            }
            sink = .spool
            notifyProgress(of: request, 0)
        case .file(let path, let options):
            self.options = options
            open(path, options, request)
        }
    }

    /// Opens the partial file beside the destination, if there is none yet. What arrives meanwhile is buffered.
    private func open(_ path: String, _ options: DownloadOptions, _ request: Request) {
        target = path
        let files = request.session.files
        let file =
            partial
            ?? PartialFile(
                beside: path, request: PartialName.owner(of: request.id, attempt: request.attempts.count),
                index: parameters.index, files, files.shareOfRequest(request))
        partial = file
        sink = .partial(file)
        attach(file, request)
        let isHashed = request.parameters.hashesBody
        file.begin(for: path, options, isResolved: parameters.isResolved, isHashed: isHashed) { [self] error in
            guard !request.isOver else { return }
            if let error {
                let failure = SessionError.downloadedFileMoveFailed(source: nil, destination: path, error)
                sink = .none
                fail(failure, request)
                return request.failToStoreBody(failure)
            }
            notifyProgress(of: request, file.count)
        }
        file.hold(validator.map { PartialRecord.mark($0.text, source: source?.hash) })
        if isHashed, file.count > 0 { file.catchUpHash() }
    }

    /// Records the failure, and notifies the monitors that the download was not saved.
    private func fail(_ failure: SessionError, _ request: Request) {
        request.recordError(failure)
        request.session.notify(.didFinishDownloading(.failure(failure)), of: request)
    }

    /// Moves the file to its final name, and notifies the monitors.
    func move(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard case .partial(let partial) = sink, let target else {
            guard case .spool = sink, let path = request.body.path else { return completion(nil) }
            isMoved = true
            request.session.notify(.didCreateDestination(path), of: request)
            request.session.notify(.didFinishDownloading(.success(path)), of: request)
            return completion(nil)
        }
        request.session.notify(.didCreateDestination(target), of: request)
        // A monitor may have cancelled the request.
        guard !request.isOver else { return completion(nil) }
        let source = partial.currentPath
        partial.move(to: target, options) { [self] error in
            guard let error else {
                isMoved = true
                if !request.isOver { request.session.notify(.didFinishDownloading(.success(target)), of: request) }
                return completion(nil)
            }
            let failure = SessionError.downloadedFileMoveFailed(source: source, destination: target, error)
            if !request.isOver { request.session.notify(.didFinishDownloading(.failure(failure)), of: request) }
            completion(failure)
        }
    }

    /// Removes the partial file of a failed download, unless another request has resumed it.
    func discard(of request: Request, completion: @escaping () -> Void) {
        guard let partial, !isMoved else { return completion() }
        self.partial = nil
        let (path, index, files) = (partial.currentPath, parameters.index, request.session.files)
        let share = files.shareOfRequest(request)
        // An open file is locked, and counts as used.
        partial.whenClosed {
            files.runAlways(for: share, { _ = OpenedPartial.removeUnused(path, index: index) }, then: completion)
        }
    }
}
