internal import CarpoolSystem
internal import Glibc

/// A descriptor that was passed with a call, by its kind.
enum PassedDescriptor: Sendable {
    /// A regular file and its size.
    case file(WorkerFile, size: Int64, isInMemory: Bool)
    /// A pipe or a socket.
    case stream(WorkerFile, isSocket: Bool, isConnected: Bool = false)
    /// One to write to.
    case output(WorkerFile, PassedOutput.Kind)
    /// One that was passed to be written to, and is not.
    case unusable(OutputRefusal)
    /// A socket of an address family that is not used.
    case otherSocket(family: Int32)
    /// It cannot be used: the number of the error.
    case refused(Int32)

    /// Families of sockets that the loop may poll: the kernel does so without a lock that another process can hold.
    /// Others, such as AF_VSOCK, wait for the socket's.
    static let families: Set<Int32> = [AF_UNIX, AF_INET, AF_INET6]

    /// The result of an inspection. Where it refuses the descriptor and a call has failed for a shortage meanwhile,
    /// that says nothing about the descriptor: it is refused for the shortage.
    static func inspected(_ look: () -> PassedDescriptor) -> PassedDescriptor {
        let before = Shortage.count
        let found = look()
        switch found {
        case .unusable, .otherSocket, .refused, .stream(_, isSocket: true, isConnected: false):
            return Shortage.count == before ? found : .refused(Shortage.lastCode)
        case .file, .stream, .output: return found
        }
    }
}
