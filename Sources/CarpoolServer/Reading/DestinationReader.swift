internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// Makes a download's parameters of what a caller wrote under `destination` and `resume_data`, which has passed its schema.
struct DestinationReader {
    /// The caller: files are written with the daemon's rights only for one that could write the same.
    let client: any Client
    /// Makes what asks the client.
    let callbacks: any CallbackParts
    /// Who remembers partial files.
    let index: PartialFileIndex?

    func download(_ params: Params) throws(RPCError) -> DownloadParameters {
        var download = DownloadParameters()
        download.index = index
        if let token = params["resume_data"]?.string { download.resumePoint = try resumePoint(token) }
        guard let json = params["destination"] else {
            if let point = download.resumePoint { download.destination = try DestinationReader.destination(of: point) }
            return download
        }
        let place = "params.destination"
        try client.pathAccess.check(json.string ?? json["path"]?.string ?? place)
        if let path = json.string {
            download.destination = .file(try DestinationReader.file(path, at: place))
            return download
        }
        download.options = DestinationReader.options(json, DownloadOptions())
        download.validatesBeforeMove = json["validate_before_move"]?.bool ?? true
        if let path = json["path"]?.string {
            download.destination = .file(try DestinationReader.file(path, at: "\(place).path"))
        } else if let path = json["directory"]?.string {
            download.destination = .directory(try DestinationReader.directory(path, at: "\(place).directory"))
        } else if let callback = json["callback"] {
            let decider = try callbacks.destinationDecider(
                callback, options: download.options, path: "\(place).callback")
            download.destination = .ask(decider)
        }
        return download
    }

    /// What may stand beside a path, there and in the answer of a callback.
    static func options(_ json: JSON, _ standard: DownloadOptions) -> DownloadOptions {
        var options = standard
        if let value = json["remove_previous"]?.bool { options.removesPreviousFile = value }
        if let value = json["create_directories"]?.bool { options.createsIntermediateDirectories = value }
        if let value = json["umask"]?.int { options.umask = UInt32(truncatingIfNeeded: value) }
        return options
    }

    /// Where the token's file was to go. A token comes from a client, and is believed no more than other parameters.
    private static func destination(of point: ResumePoint) throws(RPCError) -> DownloadDestination {
        guard let path = point.destination else {
            throw .invalidParams(
                path: "params.destination", message: "the token does not know it", expected: "where the file goes")
        }
        return .file(try file(path, at: "params.resume_data"))
    }

    private func resumePoint(_ token: String) throws(RPCError) -> ResumePoint {
        try client.pathAccess.check("params.resume_data")
        do throws(ResumePoint.Refusal) {
            return try ResumePoint(token: token, index: index)
        } catch {
            switch error {
            case .notAToken:
                throw .invalidParams(
                    path: "params.resume_data", message: "not a token of this version of Carpool",
                    expected: "resume_data as a record or an event had it")
            case .cannotOpen(let path, let reason):
                let isTaken = reason.code == EWOULDBLOCK
                throw .cannotOpen(
                    path: path, errno: Int(reason.code),
                    reason: isTaken ? "another request goes on with it" : reason.reason)
            }
        }
    }

    // MARK: Paths

    /// The place of a file that need not be there, with all symbolic links resolved: its own too, so that what it leads to is replaced.
    static func file(_ path: String, at place: String) throws(RPCError) -> String {
        try AbsolutePath.check(path, at: place)
        guard !path.hasSuffix("/") else {
            throw .invalidParams(path: place, message: "the path ends with a /", expected: "the path of a file")
        }
        guard let real = try resolve(path) else {
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            let directory = try resolve(slash == path.startIndex ? "/" : String(path[..<slash]))
            return directory.map { ($0 == "/" ? "" : $0) + path[slash...] } ?? path
        }
        var status = stat()
        guard stat(real, &status) == 0 else { throw cannotOpen(path, errno) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw cannotOpen(path, kind == S_IFDIR ? EISDIR : EINVAL) }
        return real
    }

    private static func directory(_ path: String, at place: String) throws(RPCError) -> String {
        try AbsolutePath.check(path, at: place)
        guard let real = try resolve(path) else { return path }
        var status = stat()
        guard stat(real, &status) == 0 else { throw cannotOpen(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw cannotOpen(path, ENOTDIR) }
        return real
    }

    /// The path without symbolic links; `nil` if there is nothing of that name.
    private static func resolve(_ path: String) throws(RPCError) -> String? {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw cannotOpen(path, errno)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func cannotOpen(_ path: String, _ code: Int32) -> RPCError {
        .cannotOpen(path: path, errno: Int(code), reason: SystemError.reason(of: code))
    }
}
