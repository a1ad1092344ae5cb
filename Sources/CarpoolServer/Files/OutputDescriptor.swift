internal import CarpoolSystem
internal import Glibc

/// Inspects descriptors that were passed for a response's body.
///
/// Every client may pass what it has opened for writing, and the daemon writes to it with its own rights. So nothing is
/// written to where the kernel or another process looks at the rights of the writer.
struct OutputDescriptor {
    /// The user who has passed it.
    let user: UInt32

    /// Whether it is a pipe to write to: no lock has to be waited for to find that.
    static func isUsableAtOnce(_ raw: Int32) -> Bool { FileDescriptor.isPipe(raw) && FileDescriptor.isWritable(raw) }

    /// Inspects a descriptor. May block: for a thread of a ``Worker``.
    func look(_ descriptor: WorkerFile) -> PassedDescriptor { .inspected { kind(of: descriptor) } }

    private func kind(of descriptor: WorkerFile) -> PassedDescriptor {
        var status = stat()
        guard FileDescriptor.isWritable(descriptor.raw) else { return .unusable(.readOnly) }
        guard fstat(descriptor.raw, &status) == 0 else { return .refused(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            guard !FileDescriptor.isOfKernel(descriptor.raw) else { return .unusable(.kernel) }
            // The kernel takes the set-user-ID bit from a file that is written to, but not if root writes (write(2)).
            guard status.st_mode & (S_ISUID | S_ISGID) == 0 else { return .unusable(.program) }
            return .output(descriptor, .file)
        case S_IFIFO: return .output(descriptor, .pipe)
        case S_IFSOCK: return lookAtSocket(descriptor)
        case S_IFCHR where PassedTerminal.isOne(descriptor.raw): return lookAtTerminal(descriptor)
        case S_IFCHR where FileDescriptor.takesBytes(UInt(status.st_rdev)): return .output(descriptor, .file)
        default: return .unusable(.device)
        }
    }

    private func lookAtSocket(_ descriptor: WorkerFile) -> PassedDescriptor {
        let family = FileDescriptor.socketFamily(descriptor.raw) ?? AF_UNSPEC
        guard PassedDescriptor.families.contains(family), FileDescriptor.isConnectedStream(descriptor.raw) else {
            return .unusable(.socket)
        }
        guard family == AF_UNIX else { return .output(descriptor, .socket) }
        guard let peer = try? PeerCredentials(of: descriptor.raw) else { return .unusable(.socket) }
        // The daemon would keep the client's connection open, and read the body as calls.
        guard peer.pid != getpid() else { return .unusable(.ownConnection) }
        // With SO_PASSCRED (unix(7)) the peer gets the user of the writer with each message.
        guard user == geteuid() || user == peer.uid else { return .unusable(.otherUser(peer.uid)) }
        return .output(descriptor, .socket)
    }

    private func lookAtTerminal(_ descriptor: WorkerFile) -> PassedDescriptor {
        do throws(PassedTerminal.Refusal) {
            return .output(descriptor.sibling(try PassedTerminal.open(descriptor.raw)), .terminal)
        } catch {
            return .unusable(.terminal(error))
        }
    }
}
