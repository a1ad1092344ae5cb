internal import CarpoolSystem

/// A descriptor that was passed with a call, by its kind.
enum PassedDescriptor: Sendable {
    /// A regular file and its size.
    case file(WorkerFile, size: Int64, isInMemory: Bool)
    /// A pipe or a socket.
    case stream(WorkerFile, isSocket: Bool, isConnected: Bool = false)
    /// One to write to.
    case output(WorkerFile, PassedOutput.Kind)
    /// A socket of an address family that is not used.
    case otherSocket(family: Int32)
    /// It cannot be used: the number of the error.
    case refused(Int32)
}
