internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// The places that a download names: where its file goes, and where the partial file of its resume token lies. They are collected before
/// anything is done and looked at by a job of the worker.
struct DestinationNames: Sendable {
    private enum Place: Sendable {
        case file(String, at: String)
        case directory(String, at: String)
    }

    private var place: Place?
    /// Where the resume token says that its partial file lies.
    let partial: String?

    /// Collects them from the parameters of a download, which have passed their schema; `nil` if there are none. What is no path is refused
    /// later, without a look at the file system.
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

    /// Looks at them. May block: for a thread of a ``Worker``.
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

/// What was found at the places that a download names.
struct FoundDestination: Sendable {
    /// The place of the file, or its directory, without symbolic links.
    let path: Result<String, RPCError>?
    /// The partial file of the resume token.
    let partial: PartialFileOpening?
}
