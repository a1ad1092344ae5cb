internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// The paths that a download names: its destination, and the partial file of its resume token. They are collected first
/// and inspected by a job of the worker.
struct DestinationNames: Sendable {
    private enum Place: Sendable {
        case file(String, at: String)
        case directory(String, at: String)
    }

    private var place: Place?
    /// What the resume token says of its partial file.
    let partial: PartialClaim?

    /// Collects the paths from the checked parameters of a download; `nil` if there are none. Invalid paths are refused
    /// later, without using the file system.
    init?(_ params: Params) {
        let token = params[.resumeData].flatMap { ResumePoint.places(token: $0) }
        partial = token?.partial
        if let json = params[.destination] {
            if let path = json.string ?? json["path"]?.string, AbsolutePath.isOne(path) {
                place = .file(path, at: json.string == nil ? "params.destination.path" : "params.destination")
            } else if let path = json["directory"]?.string, AbsolutePath.isOne(path) {
                place = .directory(path, at: "params.destination.directory")
            }
        } else if let path = token?.destination, AbsolutePath.isOne(path) {
            place = .file(path, at: "params.resume_data")
        }
        if place == nil, partial == nil { return nil }
    }

    /// Inspects the paths. May block: for a thread of a ``Worker``.
    func look() -> FoundDestination {
        FoundDestination(path: path(), partial: partial.map { PartialFileOpening($0) })
    }

    private func path() -> Result<String, RPCError>? {
        switch place {
        case nil: nil
        case .file(let path, let place):
            Result { () throws(RPCError) in try DestinationPlace.file(path, at: place) }
        case .directory(let path, let place):
            Result { () throws(RPCError) in try DestinationPlace.directory(path, at: place) }
        }
    }
}

/// The results of inspecting the paths that a download names.
struct FoundDestination: Sendable {
    /// The place of the file, or its directory, without symbolic links.
    let path: Result<String, RPCError>?
    /// The partial file of the resume token.
    let partial: PartialFileOpening?
}
