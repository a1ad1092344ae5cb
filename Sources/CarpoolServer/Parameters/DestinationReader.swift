internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// Makes a download's parameters from `destination` and `resume_data`, which have passed their schemas.
struct DestinationReader {
    /// The caller: the daemon writes files with its own rights only for a client that could write the same files
    /// itself.
    let client: any Caller
    /// Makes the callback handlers.
    let callbacks: any CallbackFactory
    /// Remembers partial files.
    let index: PartialFileIndex?
    /// Writes the file.
    let store: FileStore
    /// The account of what that takes.
    let share: WorkerShare
    /// The files of the call: what its paths lead to.
    let files: CallFiles

    private var found: FoundDestination? { files.destination }

    func download(_ params: Params) throws(RPCError) -> DownloadParameters {
        var download = DownloadParameters()
        download.index = index
        download.isResolved = true
        if let token = params[.resumeData] { download.resumePoint = try resumePoint(token) }
        guard let json = params[.destination] else {
            if let point = download.resumePoint { download.destination = try destination(of: point) }
            return download
        }
        let place = "params.destination"
        try files.access(or: client.pathAccess).check(json.string ?? json["path"]?.string ?? place)
        if let path = json.string {
            download.destination = .file(try self.path(path, at: place))
            return download
        }
        download.options = DestinationReader.options(json, DownloadOptions())
        download.validatesBeforeMove = json["validate_before_move"]?.bool ?? true
        if let path = json["path"]?.string {
            download.destination = .file(try self.path(path, at: "\(place).path"))
        } else if let path = json["directory"]?.string {
            download.destination = .directory(try self.path(path, at: "\(place).directory"))
        } else if let callback = json["callback"] {
            let decider = try callbacks.destinationDecider(
                callback, options: download.options, path: "\(place).callback")
            download.destination = .ask(decider)
        }
        return download
    }

    /// The options beside a path, in a destination and in the answer of a callback.
    static func options(_ json: JSON, _ standard: DownloadOptions) -> DownloadOptions {
        var options = standard
        if let value = json["remove_previous"]?.bool { options.removesPreviousFile = value }
        if let value = json["keep_attributes"]?.bool { options.keepsAttributes = value }
        if let value = json["create_directories"]?.bool { options.createsIntermediateDirectories = value }
        if let value = json["umask"]?.int { options.umask = UInt32(truncatingIfNeeded: value) }
        return options
    }

    /// The destination in the token. A token comes from a client, so its path is checked like any other.
    private func destination(of point: ResumePoint) throws(RPCError) -> DownloadDestination {
        guard let path = point.destination else {
            throw .invalidParams(
                path: "params.destination", message: "the token in resume_data has no destination",
                expected: "the destination of the file")
        }
        return .file(try self.path(path, at: "params.resume_data"))
    }

    private func resumePoint(_ token: String) throws(RPCError) -> ResumePoint {
        try files.access(or: client.pathAccess).check("params.resume_data")
        do throws(ResumePoint.Refusal) {
            guard let opening = found?.partial else { throw .notAToken }
            return try ResumePoint(token: token, opening, index: index, store, for: share)
        } catch {
            switch error {
            case .notAToken:
                throw .invalidParams(
                    path: "params.resume_data", message: "not a token of this version of Carpool",
                    expected: "the value of resume_data from a record or an event, unchanged")
            case .cannotOpen(let path, let reason):
                let isTaken = reason.code == EWOULDBLOCK
                throw .cannotOpen(
                    path: path, code: reason.code,
                    reason: isTaken ? "another request is resuming this partial file" : reason.reason)
            }
        }
    }

    // MARK: Paths

    /// The path without symbolic links, as it was resolved before.
    private func path(_ path: String, at place: String) throws(RPCError) -> String {
        try AbsolutePath.check(path, at: place)
        guard let found = found?.path else { throw .notOpened(path) }
        return try found.get()
    }
}
